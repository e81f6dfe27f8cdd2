#include "rnnsearch/corpus/cleaning.h"

#include <cmath>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::corpus {

void check(const CleaningOptions& options) {
  if (options.max_length == 0) throw Error("corpus: max-length is 0, but must be at least 1");
  if (!(options.max_ratio == 0 || options.max_ratio >= 1))
    throw Error("corpus: max-ratio is {:g}, but must be at least 1 (sides of equal length), or 0 for no limit",
                options.max_ratio);
  if (!(options.script_share > 0 && options.script_share <= 1))
    throw Error("corpus: script-share is {:g}, but must be a share of the letters: more than 0 and at most 1",
                options.script_share);
  for (const auto& [name, script] :
       {std::pair{"source-script", &options.source_script}, {"target-script", &options.target_script}}) {
    if (script->empty()) continue;
    try {
      text::Script{*script};
    } catch (const Error& error) {
      throw Error("corpus: {}: {}", name, error.what());
    }
  }
}

}  // namespace rnnsearch::corpus

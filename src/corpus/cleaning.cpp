#include "rnnsearch/corpus/cleaning.h"

#include <cmath>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/script.h"

namespace rnnsearch::corpus {

void check(const CleaningOptions& options) {
  if (options.max_length == 0) throw Error("corpus: max-length is 0, but must be at least 1");
  if (!(options.max_ratio == 0 || options.max_ratio >= 1))
    throw Error(text_of("corpus: max-ratio is ", options.max_ratio,
                        ", but must be at least 1 (sides of equal length), or 0 for no limit"));
  if (!(options.script_share > 0 && options.script_share <= 1))
    throw Error(text_of("corpus: script-share is ", options.script_share,
                        ", but must be a share of the letters: more than 0 and at most 1"));
  for (const auto& [name, script] :
       {std::pair{"source-script", &options.source_script}, {"target-script", &options.target_script}}) {
    if (script->empty()) continue;
    try {
      text::Script{*script};
    } catch (const Error& error) {
      throw Error(text_of("corpus: ", name, ": ", error.what()));
    }
  }
}

}  // namespace rnnsearch::corpus

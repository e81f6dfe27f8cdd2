#include "rnnsearch/corpus/prepare_options.h"

#include <vector>

#include "rnnsearch/base/error.h"

namespace rnnsearch::corpus {
namespace {

using C = CleaningOptions;

constexpr Option<C> kOptions[]{
    {"max-length",
     "largest number of words, or pieces, on either side; longer pairs are dropped",
     field<&C::max_length>(),
     {.group = kCleaningGroup, .bounds = {.from = 1, .to = 1e6}}},
    {"max-ratio",
     "largest ratio of the longer side to the shorter side, in words; other pairs are dropped; 0: no limit",
     field<&C::max_ratio>(),
     {.bounds = {.from = 0, .to = 1e6}}},
    {"keep-empty-targets",
     "keep pairs without target words, from which a model learns to end a translation at once (translate it with "
     "--minimum-length-ratio 0); pairs without source words are always dropped",
     field<&C::keep_empty_targets>()},
    {"drop-copies", "drop pairs whose two sides have the same words, because they are not translations",
     field<&C::drop_copies>()},
    {"drop-repeated",
     "drop pairs that occurred before, both sides byte for byte (compared by 128-bit digests); the text is read once "
     "more",
     field<&C::drop_repeated>()},
    {"source-script",
     "drop pairs whose source is not written in this script, given by its name or code (Cyrillic, Cyrl) or by a "
     "language code (ru, ja); digits, punctuation and symbols do not count",
     field<&C::source_script>(),
     {.placeholder = "SCRIPT"}},
    {"target-script",
     "drop pairs whose target is not written in this script, as --source-script",
     field<&C::target_script>(),
     {.placeholder = "SCRIPT"}},
    {"script-share",
     "smallest share of a sentence's letters that must belong to --source-script or --target-script",
     field<&C::script_share>(),
     {.bounds = {.from = 0.001, .to = 1}}},
};

}  // namespace

std::span<const Option<CleaningOptions>> cleaning_option_table() {
  return kOptions;
}

EvaluationFiles evaluation_files(const std::string& text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':') {
      parts.emplace_back();
    } else {
      if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ':') ++i;
      parts.back() += text[i];
    }
  }
  bool complete = parts.size() >= 3;
  for (const std::string& part : parts) complete = complete && !part.empty();
  if (!complete)
    throw UsageError("--test is '" + text + "' but must be NAME:SOURCE:REFERENCE, a name and two files or more");
  return {parts[0], parts[1], {parts.begin() + 2, parts.end()}};
}

}  // namespace rnnsearch::corpus

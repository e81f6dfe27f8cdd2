#include "rnnsearch/corpus/prepare_options.h"

#include <vector>

#include "rnnsearch/base/error.h"

namespace rnnsearch::corpus {
void declare(OptionList& options, CleaningOptions& o) {
  options.group("Filters of training pairs");
  options.add("max-length", o.max_length, within(1, 1e6),
              "largest number of words, or pieces, on either side; longer pairs are dropped");
  options.add("max-ratio", o.max_ratio, within(0, 1e6),
              "largest ratio of the longer side to the shorter side, in words; other pairs are dropped; 0: no limit");
  options.add("keep-empty-targets", o.keep_empty_targets,
              "keep pairs without target words, from which a model learns to end a translation at once (translate it "
              "with --minimum-length-ratio 0); pairs without source words are always dropped");
  options.add("drop-copies", o.drop_copies,
              "drop pairs whose two sides have the same words, because they are not translations");
  options.add("drop-repeated", o.drop_repeated,
              "drop pairs that occurred before, both sides byte for byte (compared by 128-bit digests); the text is "
              "read once more");
  options.add("source-script", o.source_script, Placeholder{"SCRIPT"},
              "drop pairs whose source is not written in this script, given by its name or code (Cyrillic, Cyrl) or by "
              "a language code (ru, ja); digits, punctuation and symbols do not count");
  options.add("target-script", o.target_script, Placeholder{"SCRIPT"},
              "drop pairs whose target is not written in this script, as --source-script");
  options.add("script-share", o.script_share, within(0.001, 1),
              "smallest share of a sentence's letters that must belong to --source-script or --target-script");
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

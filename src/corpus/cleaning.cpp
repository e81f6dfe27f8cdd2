#include "rnnsearch/corpus/cleaning.h"

#include <algorithm>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::corpus {
namespace {

bool is_in_script(const text::Script& script, std::string_view text, double share) {
  const text::Script::Letters letters = script.count(text);
  return static_cast<double>(letters.of_script) >= share * static_cast<double>(letters.all);
}

bool same(const text::WordList& a, const text::WordList& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace

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

PairCleaner::PairCleaner(const CleaningOptions& options) : options_(options) {
  if (!options.source_script.empty()) source_script_.emplace(options.source_script);
  if (!options.target_script.empty()) target_script_.emplace(options.target_script);
}

std::optional<Drop> PairCleaner::reason(std::string_view source, const text::WordList& source_words,
                                        std::string_view target, const text::WordList& target_words) const {
  if (source_words.empty()) return Drop::kEmptySource;
  if (target_words.empty() && !options_.keep_empty_targets) return Drop::kEmptyTarget;
  if (source_words.size() > options_.max_length) return Drop::kLongSource;
  if (target_words.size() > options_.max_length) return Drop::kLongTarget;
  const auto [shorter, longer] = std::minmax({source_words.size(), target_words.size()});
  // The limit does not apply to an empty target that is kept.
  if (options_.max_ratio > 0 && shorter > 0 &&
      static_cast<double>(longer) > options_.max_ratio * static_cast<double>(shorter))
    return Drop::kRatio;
  if (options_.drop_copies && same(source_words, target_words)) return Drop::kCopy;
  if (source_script_ && !is_in_script(*source_script_, source, options_.script_share)) return Drop::kSourceScript;
  if (target_script_ && !is_in_script(*target_script_, target, options_.script_share)) return Drop::kTargetScript;
  return std::nullopt;
}

}  // namespace rnnsearch::corpus

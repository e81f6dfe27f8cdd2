// Decides whether a pair of the training text is kept.
#pragma once

#include <optional>
#include <string_view>

#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/text/unicode.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

/// Thread-safe.
class PairCleaner {
 public:
  explicit PairCleaner(const CleaningOptions& options);

  /// The reason for dropping a pair, given as raw text and as words; nothing if it is kept. Does not check whether the
  /// pair is repeated.
  std::optional<Drop> reason(std::string_view source, const text::WordList& source_words, std::string_view target,
                             const text::WordList& target_words) const;

 private:
  CleaningOptions options_;
  std::optional<text::Script> source_script_, target_script_;
};

}  // namespace rnnsearch::corpus

// The verdict on one pair of the training text.
#pragma once

#include <optional>
#include <string_view>

#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/text/script.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

/// Any thread may ask.
class PairCleaner {
 public:
  explicit PairCleaner(const CleaningOptions& options);

  /// A pair as it stands in the text, and its words. Whether it stood there before is not asked here.
  std::optional<Drop> reason(std::string_view source, const text::WordList& source_words, std::string_view target,
                             const text::WordList& target_words) const;

 private:
  CleaningOptions options_;
  std::optional<text::Script> source_script_, target_script_;
};

}  // namespace rnnsearch::corpus

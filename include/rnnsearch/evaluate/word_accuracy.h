// Word accuracy by the frequency of words in the training text, as in compare-mt (Neubig et al. 2019).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rnnsearch::evaluate {

/// The target side of the training text. Both functions are called on several threads.
struct WordFrequencies {
  std::function<std::vector<std::string>(std::string_view line)> words;  // splits a raw line as for training
  std::function<std::uint64_t(std::string_view word)> count;  // count in the training text; 0 outside the vocabulary
};

/// The accuracy for the words of one frequency bucket. A word of a hypothesis is correct if the reference of its
/// sentence contains it, at most as often as there.
struct WordAccuracy {
  std::string label;             // one of frequency_labels()
  std::uint64_t words = 0;       // number of words in the references
  std::uint64_t hypothesis = 0;  // number of words in the hypotheses
  std::uint64_t correct = 0;

  double precision() const;  // 0 to 1; 0 without words
  double recall() const;
  double f1() const;
};

/// Returns one element for each of frequency_labels(). REQUIRES: as many references as hypotheses.
std::vector<WordAccuracy> word_accuracies(std::span<const std::string> hypotheses,
                                          std::span<const std::string> references, const WordFrequencies& frequencies);

}  // namespace rnnsearch::evaluate

// Which words a system gets right, by how often the training text held them: as compare-mt (Neubig et al. 2019) counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rnnsearch::evaluate {

/// The target side of the training text. Both are called on several threads.
struct WordFrequencies {
  std::function<std::vector<std::string>(std::string_view line)> words;  // a raw line as training cut it
  std::function<std::uint64_t(std::string_view word)> count;  // in the training text; 0 outside the vocabulary
};

/// Of the words of one bucket of frequencies. A hypothesis word is right when the reference of its sentence has it, at
/// most as often as there.
struct WordAccuracy {
  std::string label;             // of frequency_labels()
  std::uint64_t words = 0;       // in the references
  std::uint64_t hypothesis = 0;  // in the hypotheses
  std::uint64_t correct = 0;

  double precision() const;  // 0 to 1; 0 without words
  double recall() const;
  double f1() const;
};

/// One for each of frequency_labels(). As many references as hypotheses.
std::vector<WordAccuracy> word_accuracies(std::span<const std::string> hypotheses,
                                          std::span<const std::string> references, const WordFrequencies& frequencies);

}  // namespace rnnsearch::evaluate

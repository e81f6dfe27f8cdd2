// Groups the sentences of a test set into buckets: by length, as in figure 2 of Bahdanau, Cho and Bengio (2015), and by
// the frequency of their words in the training text. Also word accuracy by that frequency, as in compare-mt (Neubig et
// al. 2019).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/evaluate/bleu.h"

namespace rnnsearch::evaluate {

/// The side whose words determine the length bucket of a sentence. kReference: the first reference. kLongest: the
/// longer one of source and first reference, which is also the length that training limits.
enum class LengthOf { kReference, kSource, kLongest };
constexpr auto names_of(LengthOf) {
  return std::array{Named{LengthOf::kReference, "reference"}, Named{LengthOf::kSource, "source"},
                    Named{LengthOf::kLongest, "longest"}};
}
using rnnsearch::name_of;

struct Buckets {
  std::vector<std::string> labels;
  std::vector<std::vector<std::size_t>> sentences;  // of each bucket, ascending; a sentence is in at most one bucket
};

/// Throws Error if the edges are not ascending.
void check_edges(std::span<const std::size_t> edges);
/// Buckets "up to 10", "11-20", ..., "over 60", where `edges` are the largest lengths. `tokens` is the tokenization for
/// counting words. Only the side that is measured must be given. REQUIRES: check_edges passed.
Buckets by_length(std::span<const std::string> references, std::span<const std::string> sources, LengthOf length,
                  std::span<const std::size_t> edges, const BleuOptions& tokens);

/// Buckets "none", "up to 5%", ... for shares in [0, 1].
Buckets by_unknown_share(std::span<const double> shares);

/// The frequency of the rarest word of a sentence without words.
inline constexpr std::uint64_t kNoWord = std::numeric_limits<std::uint64_t>::max();
/// Buckets of training-set frequencies: "unknown" (0), "1-9", "10-99", "100-999", "1000 and more".
const std::vector<std::string>& frequency_labels();
std::size_t frequency_bucket(std::uint64_t frequency);
/// Sentences with the frequency kNoWord are in no bucket.
Buckets by_frequency(std::span<const std::uint64_t> frequencies);

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

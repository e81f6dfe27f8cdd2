// Groups the sentences of a test set into buckets: by length, as in figure 2 of Bahdanau, Cho and Bengio (2015), and by
// the frequency of their words in the training text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
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
/// counting words. Only the side that is measured must be given. Throws Error as check_edges does.
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

}  // namespace rnnsearch::evaluate

// Sentences of a test set put together by what they have in common: by length, as in figure 2 of Bahdanau, Cho and
// Bengio (2015), and by how well the training text knew their words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/evaluate/bleu.h"

namespace rnnsearch::evaluate {

/// Whose words put a sentence into its bucket: of several references the first one; kLongest: of source and reference
/// the one that has more, as training drops pairs.
enum class LengthOf { kReference, kSource, kLongest };
LengthOf length_of(const std::string& name);  // "reference", "source", "longest"; throws Error naming them
std::string name_of(LengthOf length);

struct Buckets {
  std::vector<std::string> labels;
  std::vector<std::vector<std::size_t>> sentences;  // of each bucket, ascending; a sentence is in one or in none
};

/// Throws Error when they do not ascend.
void check_edges(std::span<const std::size_t> edges);
/// "up to 10", "11-20", ..., "over 60"; `edges` are the last lengths. `tokens` counts the words. Needs only the side
/// that is measured. Throws Error as check_edges.
Buckets by_length(std::span<const std::string> references, std::span<const std::string> sources, LengthOf length,
                  std::span<const std::size_t> edges, const BleuOptions& tokens);

/// "none", "up to 5%", ... of shares in [0, 1].
Buckets by_unknown_share(std::span<const double> shares);

/// What stands for the frequency of a word that there is not: a sentence without words has no rarest one.
inline constexpr std::uint64_t kNoWord = std::numeric_limits<std::uint64_t>::max();
/// Buckets of training-set frequencies: "unknown" (0), "1-9", "10-99", "100-999", "1000 and more".
const std::vector<std::string>& frequency_labels();
std::size_t frequency_bucket(std::uint64_t frequency);
/// Sentences of kNoWord are in no bucket.
Buckets by_frequency(std::span<const std::uint64_t> frequencies);

}  // namespace rnnsearch::evaluate

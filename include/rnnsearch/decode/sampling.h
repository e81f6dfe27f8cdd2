// Draws words at random from the distribution that a model predicts, instead of searching for the most probable
// translation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "rnnsearch/base/sentences.h"

namespace rnnsearch::decode {

/// Sampling from the whole distribution is how Edunov et al. (2018), Understanding back-translation at scale, section
/// 3, make synthetic sources; sampling from the most probable words is that of Fan et al. (2018), Hierarchical neural
/// story generation, section 5, and of the former paper with k = 10.
struct Sampling {
  double temperature = 1;  // above 0: words are drawn from softmax(score / temperature)
  std::size_t top_k = 0;   // only from so many words of the largest scores; 0: from all
  std::uint64_t seed = 1;
};

/// A uniform random number in [0, 1) that depends only on the arguments: Philox with the seed as key.
double uniform_of(std::uint64_t seed, std::uint64_t sentence, std::uint32_t sample, std::uint32_t step);

/// The word at `uniform` of the cumulative distribution
///   p(y) = exp(scores[y] / temperature) / sum_y' exp(scores[y'] / temperature),
/// in the order of word ids, where y' is among the top_k largest scores, the lower id among equal ones. A word whose
/// score is -infinity is never drawn. Nothing if all are. REQUIRES: no score is NaN or +infinity; 0 <= uniform < 1.
std::optional<WordId> draw(std::span<const float> scores, const Sampling& sampling, double uniform);

}  // namespace rnnsearch::decode

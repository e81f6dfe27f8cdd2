#include "rnnsearch/decode/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "rnnsearch/base/portable.h"
#include "rnnsearch/base/random.h"

namespace rnnsearch::decode {

double uniform_of(std::uint64_t seed, std::uint64_t sentence, std::uint32_t sample, std::uint32_t step) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const auto words = philox({low(sentence), low(sentence >> 32), sample, step}, {low(seed), low(seed >> 32)});
  const std::uint64_t bits = std::uint64_t{words[0]} << 32 | words[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

std::optional<WordId> draw(std::span<const float> scores, const Sampling& sampling, double uniform) {
  std::vector<WordId> words;
  for (WordId word = 0; word < scores.size(); ++word) {
    if (scores[word] > -std::numeric_limits<float>::infinity()) words.push_back(word);
  }
  if (words.empty()) return std::nullopt;
  if (sampling.top_k > 0 && sampling.top_k < words.size()) {
    const auto end = words.begin() + static_cast<std::ptrdiff_t>(sampling.top_k);
    std::nth_element(words.begin(), end - 1, words.end(),
                     [&](WordId a, WordId b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
    words.erase(end, words.end());
    std::sort(words.begin(), words.end());
  }
  float largest = scores[words.front()];
  for (const WordId word : words) largest = std::max(largest, scores[word]);
  std::vector<double> until;  // of the cumulative distribution, not divided by its sum
  double sum = 0;
  for (const WordId word : words) {
    sum += portable::exp((static_cast<double>(scores[word]) - static_cast<double>(largest)) / sampling.temperature);
    until.push_back(sum);
  }
  // The product may round up to the sum itself.
  const auto at = std::upper_bound(until.begin(), until.end() - 1, uniform * sum);
  return words[static_cast<std::size_t>(at - until.begin())];
}

}  // namespace rnnsearch::decode

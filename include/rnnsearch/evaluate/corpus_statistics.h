// Computes the statistics of every sentence on all threads, for any metric. A metric has options, statistics that are
// found by sentence_statistics(hypothesis, references, options), a score of their sum, and a signature.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rnnsearch/base/parallel.h"

namespace rnnsearch::evaluate {

/// Statistics that add up over sentences: a struct of std::uint64_t and arrays of them alone, which says so by a member
/// kAddsUp.
template <class S>
concept AddsUp = S::kAddsUp && std::is_trivially_copyable_v<S>;
template <AddsUp S>
auto numbers_of(const S& statistics) {
  return std::bit_cast<std::array<std::uint64_t, sizeof(S) / sizeof(std::uint64_t)>>(statistics);
}
template <AddsUp S>
S& operator+=(S& sum, const S& other) {
  auto numbers = numbers_of(sum);
  const auto more = numbers_of(other);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += more[i];
  return sum = std::bit_cast<S>(numbers);
}

/// Calls act(i) for the `lines` lines of a text on all threads, each of which takes 256 lines at a time.
inline void for_each_line(std::size_t lines, const std::function<void(std::size_t i)>& act) {
  constexpr std::size_t kLinesPerPiece = 256;
  parallel_for(ceil_div(lines, kLinesPerPiece), [&](std::size_t piece) {
    const std::size_t end = std::min(lines, (piece + 1) * kLinesPerPiece);
    for (std::size_t i = piece * kLinesPerPiece; i < end; ++i) act(i);
  });
}

/// Statistics of every sentence. references[k][i] is the k-th reference of hypothesis i. REQUIRES: at least one reference
/// of each hypothesis.
template <class Options>
auto corpus_statistics(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                       const Options& options) {
  assert(!references.empty());
  for ([[maybe_unused]] const auto& set : references) assert(set.size() == hypotheses.size());
  std::vector<decltype(sentence_statistics(hypotheses[0], {}, options))> statistics(hypotheses.size());
  for_each_line(hypotheses.size(), [&](std::size_t i) {
    std::vector<std::string_view> of_sentence;
    for (const auto& set : references) of_sentence.push_back(set[i]);
    statistics[i] = sentence_statistics(hypotheses[i], of_sentence, options);
  });
  return statistics;
}

/// Their sum. REQUIRES: at least one sentence, and as corpus_statistics.
template <class Options>
auto corpus_sum(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                const Options& options) {
  const auto all = corpus_statistics(hypotheses, references, options);
  assert(!all.empty());
  auto sum = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) sum += all[i];
  return sum;
}

}  // namespace rnnsearch::evaluate

// Computes the statistics of every sentence on all threads, for any metric. A metric has options, statistics that are
// found by sentence_statistics(hypothesis, references, options), a score of their sum, and a signature.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/base/error.h"
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

/// Statistics of every sentence. references[k][i] is the k-th reference of hypothesis i. Throws Error if there is no
/// reference, or if the numbers of sentences differ.
template <class Options>
auto corpus_statistics(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                       const Options& options) {
  if (references.empty()) throw Error("evaluate: there are no references; each hypothesis needs at least one");
  for (std::size_t k = 0; k < references.size(); ++k) {
    if (references[k].size() == hypotheses.size()) continue;
    throw Error("evaluate: {} hypotheses but {} references{}; line i of both must belong to the same sentence",
                hypotheses.size(), references[k].size(), references.size() > 1 ? fmt::format(" in set {}", k + 1) : "");
  }
  constexpr std::size_t kSentencesPerPiece = 256;
  std::vector<decltype(sentence_statistics(hypotheses[0], {}, options))> statistics(hypotheses.size());
  const std::size_t pieces = ceil_div(hypotheses.size(), kSentencesPerPiece);
  parallel_for(pieces, [&](std::size_t piece) {
    std::vector<std::string_view> of_sentence(references.size());
    const std::size_t end = std::min(hypotheses.size(), (piece + 1) * kSentencesPerPiece);
    for (std::size_t i = piece * kSentencesPerPiece; i < end; ++i) {
      for (std::size_t k = 0; k < references.size(); ++k) of_sentence[k] = references[k][i];
      statistics[i] = sentence_statistics(hypotheses[i], of_sentence, options);
    }
  });
  return statistics;
}

/// Their sum. Throws Error as corpus_statistics does, and if there are no sentences.
template <class Options>
auto corpus_sum(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                const Options& options) {
  const auto all = corpus_statistics(hypotheses, references, options);
  if (all.empty()) throw Error("evaluate: nothing to score: there are 0 hypotheses and 0 references");
  auto sum = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) sum += all[i];
  return sum;
}

}  // namespace rnnsearch::evaluate

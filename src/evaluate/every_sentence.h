// Computes the statistics of every sentence on all threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"

namespace rnnsearch::evaluate {

/// Calls sentence_statistics for each hypothesis. Throws Error if there is no reference, or if the numbers of sentences
/// differ.
template <class Statistics, class Options>
std::vector<Statistics> for_every_sentence(const char* score, std::span<const std::string> hypotheses,
                                           std::span<const std::vector<std::string>> references,
                                           const Options& options) {
  if (references.empty())
    throw Error("evaluate: there are no references; {} needs at least one for each hypothesis", score);
  for (std::size_t k = 0; k < references.size(); ++k) {
    if (references[k].size() == hypotheses.size()) continue;
    throw Error("evaluate: {} hypotheses but {} references{}; line i of both must belong to the same sentence",
                hypotheses.size(), references[k].size(), references.size() > 1 ? fmt::format(" in set {}", k + 1) : "");
  }
  constexpr std::size_t kSentencesPerPiece = 256;
  std::vector<Statistics> statistics(hypotheses.size());
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

}  // namespace rnnsearch::evaluate

// Scores of resampled test sets, computed from sums of integers without processing the text again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/evaluate/bleu.h"
#include "rnnsearch/evaluate/chrf.h"
#include "rnnsearch/evaluate/sequence_accuracy.h"
#include "rnnsearch/evaluate/ter.h"

namespace rnnsearch::evaluate {

/// The statistics of one metric for every sentence of one system: rows of integers, whose sums over sentences determine
/// the score.
struct Counts {
  std::string metric;                                      // such as "BLEU"
  std::size_t width = 0;                                   // numbers in a row, at most kMaxWidth
  std::vector<std::uint32_t> rows;                         // [sentences][width]
  std::function<double(const std::uint64_t* sums)> score;  // computes the score from `width` sums; thread-safe
  std::string signature{};

  static constexpr std::size_t kMaxWidth = 32;
};

Counts counts_of(std::span<const BleuStatistics> sentences, const BleuOptions& options);
/// The metric is "chrF", or "chrF++" if there are orders of words.
Counts counts_of(std::span<const ChrfStatistics> sentences, const ChrfOptions& options);
/// The metric is "TER" against this many references.
Counts counts_of(std::span<const TerStatistics> sentences, std::size_t references);
/// The metrics are "PSA", "LCSR" and "GeoMean", means over sequences times 100. The values of sequences are rounded to
/// 1e-9.
std::vector<Counts> counts_of(std::span<const SequenceAccuracy> sentences);

/// The score over the given sentences.
double score_of(const Counts& counts, std::span<const std::size_t> sentences);

/// Returns the scores [table][sample]. Sample s draws sentences.size() of the sentences with replacement, from random
/// stream s of the seed, and uses the same sentences for all tables. REQUIRES: at least one sentence.
std::vector<std::vector<double>> bootstrap_scores(std::span<const Counts* const> tables,
                                                  std::span<const std::size_t> sentences, std::size_t samples,
                                                  std::uint64_t seed);

/// Returns |difference of the scores| of each trial, in which every sentence is swapped between a and b with
/// probability 1/2, according to the bits of random stream t of the seed, in the order of `sentences`, lowest bit of
/// each number first.
std::vector<double> randomized_differences(const Counts& a, const Counts& b, std::span<const std::size_t> sentences,
                                           std::size_t trials, std::uint64_t seed);

}  // namespace rnnsearch::evaluate

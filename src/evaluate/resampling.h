// Scores of resampled test sets, from sums of whole numbers alone: no text is read again.
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

/// What one metric needs of every sentence of one system: rows of whole numbers, whose sums over sentences give a
/// score.
struct Counts {
  std::string metric;                                      // "BLEU"
  std::size_t width = 0;                                   // numbers of a row, at most kMaxWidth
  std::vector<std::uint32_t> rows;                         // [sentences][width]
  std::function<double(const std::uint64_t* sums)> score;  // of `width` sums; safe on several threads

  static constexpr std::size_t kMaxWidth = 32;
};

Counts counts_of(std::span<const BleuStatistics> sentences, const BleuOptions& options);
/// "chrF", or "chrF++" with orders of words.
Counts counts_of(std::span<const ChrfStatistics> sentences, const ChrfOptions& options);
/// "TER", against this many references.
Counts counts_of(std::span<const TerStatistics> sentences, std::size_t references);
/// "PSA", "LCSR" and "GeoMean", each the mean over sequences, times 100. Each sequence's value is rounded to 1e-9.
std::vector<Counts> counts_of(std::span<const SequenceAccuracy> sentences);

/// Of the named sentences together.
double score_of(const Counts& counts, std::span<const std::size_t> sentences);

/// scores[t][sample] of tables[t]: sample s draws, from stream s of the seed, as many of the sentences as there are,
/// with replacement; the same ones for all tables. At least one sentence.
std::vector<std::vector<double>> bootstrap_scores(std::span<const Counts* const> tables,
                                                  std::span<const std::size_t> sentences, std::size_t samples,
                                                  std::uint64_t seed);

/// |score of one - score of the other| of each trial, in which every sentence of a and b changes sides with probability
/// one half: with the bits of stream t of the seed, in the order of `sentences`, lowest bit of each number first.
std::vector<double> randomized_differences(const Counts& a, const Counts& b, std::span<const std::size_t> sentences,
                                           std::size_t trials, std::uint64_t seed);

}  // namespace rnnsearch::evaluate

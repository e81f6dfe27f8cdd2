// Scores of resampled test sets, computed from sums of integers without processing the text again, and the tests of
// significance.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rnnsearch/evaluate/evaluation.h"

namespace rnnsearch::evaluate {

/// The statistics of one metric for every sentence of one system: rows of integers, whose sums over sentences determine
/// the score. Metrics may share rows.
struct Counts {
  std::string metric;                                        // such as "BLEU"
  std::size_t width = 0;                                     // the first numbers of a row, which the score needs
  std::size_t row_width = 0;                                 // at most kMaxWidth
  std::shared_ptr<const std::vector<std::uint32_t>> rows{};  // [sentences][row_width]
  std::function<double(const std::uint64_t* sums)> score{};  // computes the score from `width` sums; thread-safe
  std::string signature{};

  static constexpr std::size_t kMaxWidth = 32;
  const std::uint32_t* row(std::size_t sentence) const { return rows->data() + sentence * row_width; }
};

/// Without a metric.
template <AddsUp S>
Counts counts_of(const std::vector<S>& sentences) {
  constexpr std::size_t kWidth = std::tuple_size_v<decltype(numbers_of(S{}))>;
  static_assert(kWidth <= Counts::kMaxWidth);
  std::vector<std::uint32_t> rows;
  rows.reserve(sentences.size() * kWidth);
  for (const S& sentence : sentences) {
    for (const std::uint64_t number : numbers_of(sentence)) rows.push_back(static_cast<std::uint32_t>(number));
  }
  return {{}, kWidth, kWidth, std::make_shared<const std::vector<std::uint32_t>>(std::move(rows))};
}
/// The statistics of which the first `width` numbers are these.
template <AddsUp S>
S statistics_of(const auto* numbers, std::size_t width) {
  decltype(numbers_of(S{})) all{};
  std::copy_n(numbers, width, all.begin());
  return std::bit_cast<S>(all);
}
/// The same rows as the counts of a metric, whose score is a function of the first `width` numbers.
template <AddsUp S>
Counts with_metric(Counts counts, std::string metric, std::function<double(const S& sum)> score,
                   std::size_t width = Counts::kMaxWidth) {
  counts.metric = std::move(metric);
  counts.width = width = std::min(width, counts.width);
  counts.score = [score = std::move(score), width](const std::uint64_t* sums) {
    return score(statistics_of<S>(sums, width));
  };
  return counts;
}

/// The sums of the rows of the given sentences, of which the first `width` are known.
std::array<std::uint64_t, Counts::kMaxWidth> sums_of(const Counts& counts, std::span<const std::size_t> sentences);
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

// Significance tests for the difference between two systems on a test set: paired bootstrap resampling (Koehn 2004) and
// paired approximate randomization (Riezler and Maxwell 2005), two-sided, as defined by sacreBLEU 2.x (Post 2018). The
// random numbers differ from sacreBLEU's, so p values agree up to Monte Carlo error; scores and differences are equal.
//
// Both estimate how often chance produces a difference at least as large as the observed d = |score - score of the
// baseline|:
//   bootstrap       |difference| of each sample of sentences drawn with replacement, minus the mean over all samples
//   randomization   |difference| of each trial, in which every sentence is swapped between systems with probability 1/2
//   p = (c + 1) / (N + 1), where c of the N values are at least d
// A value equal to d counts (Noreen 1989). sacreBLEU counts only larger values. This makes no difference for systems
// that differ in many sentences, but sacreBLEU calls a system different from its own copy, with p = 1 / (N + 1).
//
// For a difference of z standard errors, this bootstrap gives about the one-sided p, because the mean that it subtracts
// is about z as well: at p < 0.05 it calls one in ten pairs of equally good systems different. With few sentences it
// calls more of them different, and with a single sentence it would call all different that differ. Randomization keeps
// its error rate with any number of sentences. Exchanging the outputs of n sentences gives 2^(n-1) differences, so that
// no test by exchange has p < 0.05 with fewer than six sentences; neither test is made then.

/// (c + 1) / (N + 1), where c of the N values are at least `difference`.
double p_value(std::span<const double> values, double difference);
/// The p value from the scores of the same samples: baseline[s] and system[s] belong to sample s. difference: that of
/// the whole test set.
double paired_bootstrap_p(std::span<const double> baseline, std::span<const double> system, double difference);

/// The t for which a variable with Student's distribution is in [-t, t] with probability `within`. REQUIRES: 0 < within
/// < 1, degrees_of_freedom >= 1.
double student_t(double within, std::size_t degrees_of_freedom);

}  // namespace rnnsearch::evaluate

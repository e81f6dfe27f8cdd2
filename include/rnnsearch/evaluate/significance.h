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
//
// And the mean score of several trainings with different seeds, with its confidence interval.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "rnnsearch/base/option.h"

namespace rnnsearch::evaluate {

enum class SignificanceTest { kNone, kBootstrap, kRandomization };
constexpr auto names_of(SignificanceTest) {
  return std::array{Named{SignificanceTest::kNone, "none"}, Named{SignificanceTest::kBootstrap, "bootstrap"},
                    Named{SignificanceTest::kRandomization, "randomization"}};
}
using rnnsearch::name_of;

/// A difference with a p value below this is marked in tables.
inline constexpr double kSignificant = 0.05;
/// The fewest sentences for which there is a p value.
inline constexpr std::size_t kFewestTested = 6;

struct SignificanceOptions {
  SignificanceTest test = SignificanceTest::kNone;
  std::optional<std::size_t> samples;  // default: sacreBLEU's 1,000 (bootstrap) or 10,000 (randomization)
  std::uint64_t seed = 12345;          // sacreBLEU's default

  std::size_t sample_count() const { return samples.value_or(test == SignificanceTest::kRandomization ? 10000 : 1000); }
};

/// "paired bootstrap resampling, 1,000 samples, seed 12345"
std::string description_of(SignificanceTest test, std::size_t samples, std::uint64_t seed);

/// The comparison of two systems by one metric in one row of a table.
struct Comparison {
  SignificanceTest test = SignificanceTest::kNone;
  std::string baseline, system;
  std::string metric;       // "BLEU", "chrF", ...
  std::string row;          // "all", or the label of a bucket
  double difference = 0;    // score of the system minus that of the baseline
  std::optional<double> p;  // absent with fewer than kFewestTested sentences
  std::size_t samples = 0;
  std::uint64_t seed = 0;

  bool significant() const { return p && *p < kSignificant; }
};

/// (c + 1) / (N + 1), where c of the N values are at least `difference`.
double p_value(std::span<const double> values, double difference);
/// The p value from the scores of the same samples: baseline[s] and system[s] belong to sample s. difference: that of
/// the whole test set.
double paired_bootstrap_p(std::span<const double> baseline, std::span<const double> system, double difference);

/// Statistics of n independent rounds.
struct RoundMean {
  std::size_t rounds = 0;
  double mean = 0, least = 0, most = 0;
  /// The 95% confidence interval of the mean is mean +- half_width: Student's t with n - 1 degrees of freedom times the
  /// standard error. Infinite for a single round. The interval may exceed the range of the scores, such as 100.
  double half_width = 0;
};

/// REQUIRES: at least one score.
RoundMean mean_over_rounds(std::span<const double> scores);

/// The t for which a variable with Student's distribution is in [-t, t] with probability `within`. REQUIRES: 0 < within
/// < 1, degrees_of_freedom >= 1.
double student_t(double within, std::size_t degrees_of_freedom);

}  // namespace rnnsearch::evaluate

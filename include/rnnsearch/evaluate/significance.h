// Is one system better than another on this test set, or could chance have made the difference? Paired bootstrap
// resampling (Koehn 2004) and paired approximate randomisation (Riezler and Maxwell 2005), two-sided, as sacreBLEU 2.x
// (Post 2018) defines them. The random numbers are our own: p values are sacreBLEU's up to Monte Carlo error, scores
// and differences are the same.
//
// Both ask how often chance makes the difference at least as large as the observed d = |score - baseline's score|:
//   bootstrap       |difference| of each sample of sentences drawn with replacement, less the mean of all of these
//   randomization   |difference| of each trial, in which every sentence changes systems with probability one half
//   p = (c + 1) / (N + 1), c of the N reach d
// A value equal to d counts (Noreen 1989). sacreBLEU counts only those above it, which makes no difference between
// systems that differ in many sentences, but calls a system different from its own copy, with p = 1 / (N + 1).
//
// Of a difference of z standard errors this bootstrap makes about the one-sided p, because the mean that it takes off
// is z as well: at p < 0.05 it calls one in ten pairs of equally good systems different. With few sentences it calls
// more of them so, and with a single one all that differ. Randomization keeps to its p with any number of sentences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace rnnsearch::evaluate {

enum class SignificanceTest { kNone, kBootstrap, kRandomization };
SignificanceTest significance_test_of(const std::string& name);  // "none", "bootstrap", "randomization"; throws Error
std::string name_of(SignificanceTest test);

/// Below it a difference is marked in tables.
inline constexpr double kSignificant = 0.05;

struct SignificanceOptions {
  SignificanceTest test = SignificanceTest::kNone;
  std::optional<std::size_t> samples;  // null: sacreBLEU's 1,000 (bootstrap), 10,000 (randomization)
  std::uint64_t seed = 12345;          // sacreBLEU's

  std::size_t sample_count() const { return samples.value_or(test == SignificanceTest::kRandomization ? 10000 : 1000); }
};

/// Of one metric on one row of a table.
struct Comparison {
  SignificanceTest test = SignificanceTest::kNone;
  std::string baseline, system;
  std::string metric;     // "BLEU", "chrF", ...
  std::string row;        // "all", or the label of a bucket
  double difference = 0;  // score of the system less that of the baseline
  double p = 1;
  std::size_t samples = 0;
  std::uint64_t seed = 0;

  bool significant() const { return p < kSignificant; }
};

/// (c + 1) / (N + 1), where c of the N values reach `difference`.
double p_value(std::span<const double> values, double difference);
/// Of scores of the same samples: baseline[s] and system[s] belong together. `difference` is that of the whole test
/// set.
double paired_bootstrap_p(std::span<const double> baseline, std::span<const double> system, double difference);

}  // namespace rnnsearch::evaluate

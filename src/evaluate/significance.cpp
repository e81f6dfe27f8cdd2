#include "rnnsearch/evaluate/significance.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "rnnsearch/base/error.h"

namespace rnnsearch::evaluate {
namespace {

// P(|T| <= t): Abramowitz and Stegun 26.7.3 and 26.7.4, finite sums in theta = atan(t / sqrt(n)).
double within_of(double t, std::size_t n) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(n)));
  const double sine = std::sin(theta), cosine = std::cos(theta);
  double term = n % 2 == 1 ? cosine : 1, sum = 0;
  for (std::size_t k = n % 2 == 1 ? 1 : 0; k + 2 <= n; k += 2) {
    sum += term;
    const auto next = static_cast<double>(k);
    term *= cosine * cosine * (next + 1) / (next + 2);
  }
  return n % 2 == 1 ? 2 / std::numbers::pi * (theta + sine * sum) : sine * sum;
}

}  // namespace

std::string description_of(SignificanceTest test, std::size_t samples, std::uint64_t seed) {
  const bool bootstrap = test == SignificanceTest::kBootstrap;
  return fmt::format("{}{}{}, seed {}",
                     bootstrap ? "paired bootstrap resampling, " : "paired approximate randomization, ", samples,
                     bootstrap ? " samples" : " trials", seed);
}

double p_value(std::span<const double> values, double difference) {
  const auto reached = std::count_if(values.begin(), values.end(), [&](double v) { return v >= std::abs(difference); });
  return (static_cast<double>(reached) + 1) / (static_cast<double>(values.size()) + 1);
}

double paired_bootstrap_p(std::span<const double> baseline, std::span<const double> system, double difference) {
  assert(baseline.size() == system.size());
  std::vector<double> values(system.size());
  for (std::size_t s = 0; s < values.size(); ++s) values[s] = std::abs(system[s] - baseline[s]);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& value : values) value -= mean;
  return p_value(values, difference);
}

double student_t(double within, std::size_t degrees_of_freedom) {
  assert(within > 0 && within < 1 && degrees_of_freedom >= 1);
  double low = 0, high = 1;
  while (within_of(high, degrees_of_freedom) < within) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = (low + high) / 2;
    (within_of(middle, degrees_of_freedom) < within ? low : high) = middle;
  }
  return (low + high) / 2;
}

RoundMean mean_over_rounds(std::span<const double> scores) {
  assert(!scores.empty());
  RoundMean result{scores.size(), 0, *std::min_element(scores.begin(), scores.end()),
                   *std::max_element(scores.begin(), scores.end()), std::numeric_limits<double>::infinity()};
  const auto n = static_cast<double>(scores.size());
  result.mean = std::accumulate(scores.begin(), scores.end(), 0.0) / n;
  if (scores.size() == 1) return result;
  double squares = 0;
  for (const double score : scores) squares += (score - result.mean) * (score - result.mean);
  result.half_width = student_t(0.95, scores.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return result;
}

}  // namespace rnnsearch::evaluate

#include "rnnsearch/evaluate/significance.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"

namespace rnnsearch::evaluate {

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

}  // namespace rnnsearch::evaluate

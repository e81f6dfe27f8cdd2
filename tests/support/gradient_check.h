// Compares a gradient with central differences of its loss, in double precision.
#pragma once

#include "rnnsearch/base/portable.h"
#include "tests/support/test.h"

namespace rnnsearch::support {

/// An element passes if |found - difference quotient| <= tolerance * max(|found|, |difference quotient|) + floor.
struct GradientCheck {
  double epsilon = 1e-5;
  double tolerance = 1e-6;
  double floor = 1e-9;                  // rounding error of a loss of about 100, divided by 2 epsilon
  std::size_t maximum_elements = 1000;  // larger blocks are sampled with `seed`
  std::uint64_t seed = 1;
  std::string name = {};  // name of the block, for the message
};

/// `loss` reads `parameters`; each element is increased and decreased by epsilon and restored. Adds at most one
/// failure, which names the worst element.
inline void expect_gradient(std::span<double> parameters, std::span<const double> gradient,
                            const std::function<double()>& loss, const GradientCheck& options = {}) {
  const std::string name = options.name.empty() ? "gradient" : options.name;
  if (parameters.size() != gradient.size()) {
    ADD_FAILURE() << name << " has " << gradient.size() << " elements for " << parameters.size() << " parameters";
    return;
  }
  std::vector<std::size_t> elements(parameters.size());
  std::iota(elements.begin(), elements.end(), std::size_t{0});
  if (elements.size() > options.maximum_elements) {
    Random random(options.seed);
    random.shuffle(elements);
    elements.resize(options.maximum_elements);
  }
  std::size_t worst = 0, failed = 0;
  double worst_excess = 0, worst_expected = 0;  // excess: the error divided by the allowed error
  for (const std::size_t i : elements) {
    const double kept = parameters[i];
    parameters[i] = kept + options.epsilon;
    const double above = loss();
    parameters[i] = kept - options.epsilon;
    const double below = loss();
    parameters[i] = kept;
    const double expected = (above - below) / (2 * options.epsilon);
    const double allowed = options.tolerance * std::max(std::abs(expected), std::abs(gradient[i])) + options.floor;
    double excess = std::abs(gradient[i] - expected) / allowed;
    if (!std::isfinite(excess)) excess = HUGE_VAL;
    failed += excess > 1;
    if (excess > worst_excess) {
      worst = i;
      worst_excess = excess;
      worst_expected = expected;
    }
  }
  EXPECT_EQ(failed, 0u) << name << ": of " << elements.size() << " elements checked, the worst is [" << worst
                        << "]: " << gradient[worst] << ", central difference " << worst_expected << ", " << worst_excess
                        << " times the allowed error";
}

}  // namespace rnnsearch::support

#include "rnnsearch/kernels/optimizer_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/guarded.h"

namespace rnnsearch::kernels {
namespace {

// The formulas with every operation rounded to float on its own. In double each operation on floats is so exact that
// rounding it once more gives what float arithmetic gives.
float times(float a, float b) {
  return static_cast<float>(static_cast<double>(a) * static_cast<double>(b));
}
float plus(float a, float b) {
  return static_cast<float>(static_cast<double>(a) + static_cast<double>(b));
}
float over(float a, float b) {
  return static_cast<float>(static_cast<double>(a) / static_cast<double>(b));
}
float root(float a) {
  return static_cast<float>(std::sqrt(static_cast<double>(a)));
}
float normal_or_zero(float value) {
  return std::abs(value) < std::numeric_limits<float>::min() ? 0.0F : value;
}

constexpr float kScale = 0.3F, kRate = 0.7F;

/// Gradient, parameters and two averages. Magnitudes differ, so that some averages fall below the smallest normal
/// float.
struct Arrays {
  explicit Arrays(std::size_t n) : all(4, n) {
    Random random(n);
    for (std::size_t j = 0; j < n; ++j) {
      const double magnitude = std::pow(10.0, -7.0 * static_cast<double>(j % 4));
      all(0, j) = j % 7 == 0 ? 0.0F : static_cast<float>(magnitude * random.normal());
      all(1, j) = static_cast<float>(random.normal());
      for (const std::size_t average : {2u, 3u}) {
        all(average, j) = j % 5 == 0 ? 1.2e-38F : static_cast<float>(magnitude * random.uniform());
      }
    }
  }
  float* row(std::size_t i) { return all.view().row(i); }
  Guarded<float> all;
};

/// run(arrays) uses the kernel, expected(g, p, a, b) changes one element; all bits have to agree.
template <class Run, class Expected>
void expect_bits(const Run& run, const Expected& expected) {
  for (const std::size_t n : lengths()) {
    Arrays found(n), reference(n);
    for (int update = 0; update < 3; ++update) {
      run(n, found);
      for (std::size_t j = 0; j < n; ++j) {
        auto& r = reference.all;
        expected(times(kScale, r(0, j)), r(1, j), r(2, j), r(3, j));
      }
    }
    ASSERT_TRUE(found.all.guards_hold()) << n;
    ASSERT_EQ(found.all.values(), reference.all.values()) << n;
  }
}

TEST(OptimizerSteps, RoundEveryOperationOfAdadelta) {
  const float rho = 0.95F, rest = plus(1, -rho), epsilon = 1e-6F;
  expect_bits(
      [&](std::size_t n, Arrays& a) {
        adadelta({rho, epsilon, kRate, kScale}, {n, a.row(0), a.row(1), a.row(2), a.row(3)});
      },
      [&](float g, float& p, float& g2, float& d2) {
        g2 = normal_or_zero(plus(times(rho, g2), times(times(rest, g), g)));
        const float d = times(over(root(plus(d2, epsilon)), root(plus(g2, epsilon))), g);
        d2 = normal_or_zero(plus(times(rho, d2), times(times(rest, d), d)));
        p = plus(p, -times(kRate, d));
      });
}

TEST(OptimizerSteps, RoundEveryOperationOfAdam) {
  const AdamStep step{0.9F, 0.1F, 0.999F, 0.001F, 1.5F, 1e-8F, kRate, kScale};
  expect_bits(
      [&](std::size_t n, Arrays& a) {
        adam(step, {n, a.row(0), a.row(1), a.row(2), a.row(3)});
      },
      [&](float g, float& p, float& m, float& v) {
        m = normal_or_zero(plus(times(step.beta1, m), times(step.rest1, g)));
        v = normal_or_zero(plus(times(step.beta2, v), times(times(step.rest2, g), g)));
        p = plus(p, -over(times(kRate, m), plus(root(times(step.v_scale, v)), step.epsilon)));
      });
}

TEST(OptimizerSteps, RoundEveryOperationOfGradientDescent) {
  expect_bits(
      [&](std::size_t n, Arrays& a) {
        gradient_descent({0, kRate, kScale}, {n, a.row(0), a.row(1)});
      },
      [&](float g, float& p, float&, float&) { p = plus(p, -times(kRate, g)); });
  expect_bits(
      [&](std::size_t n, Arrays& a) {
        gradient_descent({0.9F, kRate, kScale}, {n, a.row(0), a.row(1), a.row(2)});
      },
      [&](float g, float& p, float& v, float&) {
        v = normal_or_zero(plus(times(0.9F, v), -times(kRate, g)));
        p = plus(p, v);
      });
}

TEST(OptimizerSteps, DecayAsOftenAsTheyAreTold) {
  constexpr float kRho = 0.95F;
  for (const std::size_t n : {1u, 15u, 64u, 70u, 129u, 256u}) {
    for (const std::uint64_t missed : {1u, 2u, 17u, 3000u}) {
      Arrays found(n), reference(n);
      decay(kRho, missed, n, found.row(2));
      for (std::size_t j = 0; j < n; ++j) {
        for (std::uint64_t time = 0; time < missed; ++time) {
          reference.all(2, j) = normal_or_zero(times(kRho, reference.all(2, j)));
        }
      }
      ASSERT_TRUE(found.all.guards_hold());
      ASSERT_EQ(found.all.values(), reference.all.values()) << n << " values, " << missed << " times";
    }
  }
}

}  // namespace
}  // namespace rnnsearch::kernels

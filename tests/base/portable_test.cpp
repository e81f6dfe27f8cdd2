#include "rnnsearch/base/portable.h"

#include <numbers>

#include "tests/support/test.h"

namespace rnnsearch::portable {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// In units of the last place; expected: in more digits than double has.
double error_of(double found, long double expected) {
  const auto nearest = static_cast<double>(expected);
  const double unit = std::nextafter(std::abs(nearest), kInfinity) - std::abs(nearest);
  return static_cast<double>(std::abs(static_cast<long double>(found) - expected)) / unit;
}

TEST(Portable, LogAndExpAreWrongByLessThanAUnitInTheLastPlace) {
  if (std::numeric_limits<long double>::digits < 60) GTEST_SKIP() << "long double has no more digits than double here";
  Random random(1);
  double log_error = 0, exp_error = 0;
  for (int i = 0; i < 300000; ++i) {
    const double u = random.uniform();
    for (const double x : {std::ldexp(1 + u, static_cast<int>(random.below(2000)) - 1000), 0.9 + 0.2 * u})
      if (x != 1) log_error = std::max(log_error, error_of(log(x), std::log(static_cast<long double>(x))));
    for (const double x : {1400 * u - 700, 2 * u - 1})
      exp_error = std::max(exp_error, error_of(exp(x), std::exp(static_cast<long double>(x))));
  }
  EXPECT_LT(log_error, 1);
  EXPECT_LT(exp_error, 1);
}

TEST(Portable, TurnsTheCircleOnce) {
  Random random(2);
  for (int i = 0; i < 100000; ++i) {
    const double x = random.uniform();
    const long double exact = std::cos(2 * std::numbers::pi_v<long double> * static_cast<long double>(x));
    ASSERT_LT(std::abs(static_cast<double>(static_cast<long double>(cos_of_turn(x)) - exact)), 0x1p-52) << x;
  }
  EXPECT_EQ(cos_of_turn(0), 1);
  EXPECT_EQ(cos_of_turn(0.25), 0);
  EXPECT_EQ(cos_of_turn(0.5), -1);
  EXPECT_EQ(cos_of_turn(1), 1);
}

TEST(Portable, HasTheLimitsOfTheFunctions) {
  EXPECT_EQ(log(1), 0);
  EXPECT_EQ(log(0), -kInfinity);
  EXPECT_EQ(log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(log(-1)));
  EXPECT_TRUE(std::isnan(log(std::nan(""))));
  EXPECT_DOUBLE_EQ(log(std::numeric_limits<double>::denorm_min()), -1074 * std::log(2.0));
  EXPECT_EQ(exp(0), 1);
  EXPECT_EQ(exp(-kInfinity), 0);
  EXPECT_EQ(exp(kInfinity), kInfinity);
  EXPECT_EQ(exp(710), kInfinity);
  EXPECT_GT(exp(-745), 0);
  EXPECT_TRUE(std::isnan(exp(std::nan(""))));
  EXPECT_DOUBLE_EQ(power(1.5, 2.5), std::pow(1.5, 2.5));
}

// The bits themselves, which no compiler, processor or C library may change.
TEST(Portable, HasTheSameBitsEverywhere) {
  EXPECT_EQ(log(3), 0x1.193ea7aad030ap+0);
  EXPECT_EQ(exp(1), 0x1.5bf0a8b14576ap+1);
  EXPECT_EQ(power(0.999, 1000), 0x1.788526411ed72p-2);
  EXPECT_EQ(cos_of_turn(0.3), -0x1.3c6ef372fe94ep-2);
}

}  // namespace
}  // namespace rnnsearch::portable

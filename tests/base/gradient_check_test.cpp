#include "tests/support/gradient_check.h"

#include <gtest/gtest-spi.h>

#include "tests/support/test.h"
#include "tests/support/watchdog.h"

namespace rnnsearch::support {
namespace {

std::vector<double> parameters;

double loss() {
  double sum = 0;
  for (const double x : parameters) sum += std::sin(x);
  return sum;
}

std::vector<double> gradient_of(std::size_t count) {
  parameters.clear();
  std::vector<double> gradient;
  for (std::size_t i = 0; i < count; ++i) {
    parameters.push_back(0.1 * static_cast<double>(i));
    gradient.push_back(std::cos(parameters.back()));
  }
  return gradient;
}

TEST(GradientCheck, AcceptsTheGradientAndLeavesTheParametersAsTheyWere) {
  const std::vector<double> gradient = gradient_of(50);
  const std::vector<double> before = parameters;
  expect_gradient(parameters, gradient, loss);
  EXPECT_EQ(parameters, before);
}

TEST(GradientCheck, NamesTheWorstElement) {
  static std::vector<double> gradient;
  gradient = gradient_of(50);
  gradient[11] *= 1 + 1e-4;
  gradient[17] *= 1 + 1e-3;
  EXPECT_NONFATAL_FAILURE(expect_gradient(parameters, gradient, loss, {.name = "W"}),
                          "W: of 50 elements checked, the worst is [17]");
}

TEST(GradientCheck, RefusesNotANumberAndAnotherSize) {
  static std::vector<double> gradient;
  gradient = gradient_of(5);
  gradient[3] = NAN;
  EXPECT_NONFATAL_FAILURE(expect_gradient(parameters, gradient, loss), "[3]");
  gradient.pop_back();
  EXPECT_NONFATAL_FAILURE(expect_gradient(parameters, gradient, loss), "4 elements for 5 parameters");
}

TEST(GradientCheck, SamplesNoMoreThanAskedFor) {
  const std::vector<double> gradient = gradient_of(100);
  std::size_t calls = 0;
  expect_gradient(parameters, gradient, [&] { return ++calls, loss(); }, {.maximum_elements = 7});
  EXPECT_EQ(calls, 14u);
}

TEST(WatchdogDeathTest, AbortsWhatHangs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const Watchdog watchdog(0.05, "rank 1 of the test");
        std::this_thread::sleep_for(std::chrono::seconds(20));
      },
      "watchdog: rank 1 of the test: not done after 0.05 s; aborting");
}

TEST(Watchdog, LeavesInPeaceWhatEndsInTime) {
  const auto start = std::chrono::steady_clock::now();
  { const Watchdog watchdog(60, "this test"); }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace rnnsearch::support

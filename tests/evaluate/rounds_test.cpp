#include "rnnsearch/evaluate/rounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace rnnsearch::evaluate {
namespace {

TEST(StudentT, IsThatOfTheTables) {
  EXPECT_NEAR(student_t(0.95, 1), 12.706, 1e-3);
  EXPECT_NEAR(student_t(0.95, 2), 4.303, 1e-3);
  EXPECT_NEAR(student_t(0.95, 3), 3.182, 1e-3);
  EXPECT_NEAR(student_t(0.95, 9), 2.262, 1e-3);
  EXPECT_NEAR(student_t(0.99, 10), 3.169, 1e-3);
  EXPECT_NEAR(student_t(0.50, 5), 0.727, 1e-3);
  EXPECT_NEAR(student_t(0.95, 100000), 1.960, 1e-3);
}

TEST(MeanOverRounds, HasTheIntervalOfStudent) {
  const std::vector<double> scores{2, 4, 4, 6};
  const RoundMean mean = mean_over_rounds(scores);
  EXPECT_EQ(mean.rounds, 4u);
  EXPECT_NEAR(mean.mean, 4, 1e-12);
  EXPECT_EQ(mean.least, 2);
  EXPECT_EQ(mean.most, 6);
  EXPECT_NEAR(mean.half_width, 3.1824 * std::sqrt(8. / 3 / 4), 1e-3);
}

TEST(MeanOverRounds, KnowsNothingOfASingleRoundsSpread) {
  const std::vector<double> one{7};
  EXPECT_EQ(mean_over_rounds(one).mean, 7);
  EXPECT_TRUE(std::isinf(mean_over_rounds(one).half_width));
  const std::vector<double> alike(10, 100.0);
  EXPECT_EQ(mean_over_rounds(alike).half_width, 0);
}

}  // namespace
}  // namespace rnnsearch::evaluate

#include "rnnsearch/train/schedule.h"

#include <gtest/gtest.h>

#include <limits>

namespace rnnsearch::train {
namespace {

TEST(LearningRate, StaysWhereItIsWithoutASchedule) {
  TrainOptions options;
  options.learning_rate = 0.5;
  EXPECT_EQ(learning_rate(options, {.update = 1}), 0.5);
  EXPECT_EQ(learning_rate(options, {.update = 1000000}), 0.5);
}

TEST(LearningRate, WarmsUpLinearlyInEverySchedule) {
  for (const auto schedule :
       {Schedule::kConstant, Schedule::kInverseSquareRoot, Schedule::kPlateau, Schedule::kHalving}) {
    TrainOptions options;
    options.schedule = schedule;
    options.warmup_updates = 100;
    EXPECT_DOUBLE_EQ(learning_rate(options, {.update = 25}), 0.25) << name_of(schedule);
    EXPECT_DOUBLE_EQ(learning_rate(options, {.update = 100}), 1.0) << name_of(schedule);
  }
}

TEST(LearningRate, FallsWithTheInverseSquareRootOfTheUpdate) {
  TrainOptions options;
  options.schedule = Schedule::kInverseSquareRoot;
  options.warmup_updates = 100;
  EXPECT_DOUBLE_EQ(learning_rate(options, {.update = 400}), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(options, {.update = 10000}), 0.1);
}

/// Luong, Pham and Manning (2015), section 4.1, and Sutskever, Vinyals and Le (2014), section 3.4: every half epoch.
TEST(LearningRate, IsHalvedEveryEpochAfterSoMany) {
  TrainOptions options;
  options.schedule = Schedule::kHalving;
  const auto rate = [&](double epochs) { return learning_rate(options, {.update = 1000, .epochs = epochs}); };
  EXPECT_EQ(rate(0), 1);
  EXPECT_EQ(rate(4.999), 1);
  EXPECT_EQ(rate(5), 0.5);  // the sixth epoch
  EXPECT_EQ(rate(5.999), 0.5);
  EXPECT_EQ(rate(6), 0.25);
  EXPECT_EQ(rate(9.5), 1.0 / 32);
  options.halve_every_epochs = 0.5;
  options.learning_rate = 0.75;
  EXPECT_EQ(rate(4.999), 0.75);
  EXPECT_EQ(rate(5), 0.375);
  EXPECT_EQ(rate(5.5), 0.1875);
  options.halve_after_epochs = 0;
  EXPECT_EQ(rate(0), 0.375);
  EXPECT_EQ(rate(2000), 0);  // below the smallest double: no error
}

TEST(Plateau, HalvesAfterItsPatienceAndCountsAnew) {
  Plateau plateau;
  plateau.validated(5.0, 2);
  plateau.validated(5.0, 2);  // no gain: 1
  EXPECT_EQ(plateau.factor, 1);
  plateau.validated(5.1, 2);  // 2
  EXPECT_EQ(plateau.factor, 0.5);
  plateau.validated(5.1, 2);
  EXPECT_EQ(plateau.factor, 0.5);
  plateau.validated(4.9, 2);  // a gain
  plateau.validated(5.0, 2);
  EXPECT_EQ(plateau.factor, 0.5);
  plateau.validated(5.0, 2);
  EXPECT_EQ(plateau.factor, 0.25);
  TrainOptions options;
  options.schedule = Schedule::kPlateau;
  EXPECT_EQ(learning_rate(options, {.update = 9, .plateau_factor = plateau.factor}), 0.25);
}

TEST(Plateau, TakesNanForNoGainAndForNoLossToCompareWith) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Plateau plateau;
  plateau.validated(kNan, 2);
  EXPECT_FALSE(plateau.seen);
  plateau.validated(5.0, 2);
  EXPECT_EQ(plateau.best_loss, 5.0);
  plateau.validated(kNan, 2);
  EXPECT_EQ(plateau.factor, 1);
  plateau.validated(kNan, 2);
  EXPECT_EQ(plateau.factor, 0.5);
  plateau.validated(4.0, 2);
  EXPECT_EQ(plateau.best_loss, 4.0);
  EXPECT_EQ(plateau.validations_without_gain, 0U);
}

}  // namespace
}  // namespace rnnsearch::train

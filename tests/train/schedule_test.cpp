#include "rnnsearch/train/schedule.h"

#include <gtest/gtest.h>

namespace rnnsearch::train {
namespace {

TEST(LearningRate, StaysWhereItIsWithoutASchedule) {
  TrainOptions options;
  options.learning_rate = 0.5;
  EXPECT_EQ(learning_rate(options, 1, 1), 0.5);
  EXPECT_EQ(learning_rate(options, 1000000, 1), 0.5);
}

TEST(LearningRate, WarmsUpLinearlyInEverySchedule) {
  for (const auto schedule : {Schedule::kConstant, Schedule::kInverseSquareRoot, Schedule::kPlateau}) {
    TrainOptions options;
    options.schedule = schedule;
    options.warmup_updates = 100;
    EXPECT_DOUBLE_EQ(learning_rate(options, 25, 1), 0.25) << name_of(schedule);
    EXPECT_DOUBLE_EQ(learning_rate(options, 100, 1), 1.0) << name_of(schedule);
  }
}

TEST(LearningRate, FallsWithTheInverseSquareRootOfTheUpdate) {
  TrainOptions options;
  options.schedule = Schedule::kInverseSquareRoot;
  options.warmup_updates = 100;
  EXPECT_DOUBLE_EQ(learning_rate(options, 400, 1), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(options, 10000, 1), 0.1);
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
  EXPECT_EQ(learning_rate(options, 9, plateau.factor), 0.25);
}

}  // namespace
}  // namespace rnnsearch::train

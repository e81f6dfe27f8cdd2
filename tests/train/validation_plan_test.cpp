#include "train/validation_plan.h"

#include <gtest/gtest.h>

namespace rnnsearch::train {
namespace {

TrainingState at(std::uint64_t update, std::uint64_t validated_update) {
  TrainingState state;
  state.update = update;
  state.validated_update = validated_update;
  return state;
}

TEST(ValidationPlan, CountsUpdatesAloneUnlessTheClockIsAsked) {
  TrainOptions options;
  options.validate_every = 10;
  const ValidationPlan plan(options);
  EXPECT_FALSE(plan.is_due(at(0, 0)));
  EXPECT_FALSE(plan.is_due(at(9, 0)));
  EXPECT_TRUE(plan.is_due(at(10, 0)));
  EXPECT_FALSE(plan.is_due(at(10, 10)));
  EXPECT_FALSE(plan.is_due(at(11, 0))) << "the schedule would depend on where a run was resumed";
  EXPECT_TRUE(plan.counts(20));
  EXPECT_FALSE(plan.counts(23));
  EXPECT_EQ(plan.vote(10, 0, 1e9), 0);
}

TEST(ValidationPlan, PutsOffAValidationUntilItFitsIntoItsShare) {
  TrainOptions options;
  options.validate_every = 10;
  options.validation_share = 0.25;
  ValidationPlan plan(options);
  EXPECT_EQ(plan.vote(9, 0, 90), 0);
  EXPECT_EQ(plan.vote(10, 0, 100), 1) << "nothing is known of the first one";
  EXPECT_FALSE(plan.is_due(at(10, 0))) << "the ranks have not agreed";
  plan.agreed(1);
  EXPECT_TRUE(plan.is_due(at(10, 0)));
  plan.validated(100, 160);
  EXPECT_EQ(plan.seconds(), 60);
  EXPECT_EQ(plan.share(), 0.375);
  EXPECT_FALSE(plan.is_due(at(11, 0))) << "one vote is for one validation";
  EXPECT_EQ(plan.vote(19, 10, 10000), 0) << "none is due";
  // 60 + 60 seconds are a quarter of 480, of which the second one takes 60.
  EXPECT_EQ(plan.vote(20, 10, 419), 0);
  EXPECT_EQ(plan.vote(23, 10, 420), 1) << "it stays due";
  plan.validated(420, 500);
  EXPECT_EQ(plan.share(), 0.28) << "it took longer than the one before";
  EXPECT_EQ(plan.vote(30, 23, 799), 0);  // 140 + 80 are a quarter of 880
  EXPECT_EQ(plan.vote(30, 23, 800), 1);
  EXPECT_FALSE(plan.counts(30)) << "the clock must decide neither the learning rate nor the end";
}

TEST(ValidationPlan, CountsMinutesFromTheEndOfTheLastOne) {
  TrainOptions options;
  options.validate_every = 0;
  options.validate_minutes = 2;
  ValidationPlan plan(options);
  EXPECT_EQ(plan.vote(7, 0, 119), 0);
  EXPECT_EQ(plan.vote(8, 0, 120), 1);
  plan.validated(120, 150);
  EXPECT_EQ(plan.vote(9, 8, 269), 0);
  EXPECT_EQ(plan.vote(9, 8, 270), 1);
  EXPECT_EQ(plan.vote(8, 8, 270), 0) << "the same parameters";
  options.validate_every = 9;
  EXPECT_EQ(plan.vote(9, 8, 151), 1) << "whichever comes first";
}

}  // namespace
}  // namespace rnnsearch::train

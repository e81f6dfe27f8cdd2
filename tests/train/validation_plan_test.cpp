#include "train/stopping.h"

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
  EXPECT_EQ(plan.vote(10, at(9, 0), 1e9), 0);
}

TEST(ValidationPlan, PutsOffAValidationUntilItFitsIntoItsShare) {
  TrainOptions options;
  options.validate_every = 10;
  options.validation_share = 0.25;
  ValidationPlan plan(options);
  TrainingState state;
  const auto vote = [&](std::uint64_t update, std::uint64_t validated_update, double now) {
    state.validated_update = validated_update;
    return plan.vote(update, state, now);
  };
  EXPECT_EQ(vote(9, 0, 90), 0);
  EXPECT_EQ(vote(10, 0, 100), 1) << "nothing is known of the first one";
  EXPECT_FALSE(plan.is_due(at(10, 0))) << "the ranks have not agreed";
  plan.agreed(1);
  EXPECT_TRUE(plan.is_due(at(10, 0)));
  plan.validated(100, 160, false, state);
  EXPECT_FALSE(plan.is_due(at(11, 0))) << "one vote is for one validation";
  EXPECT_EQ(vote(19, 10, 10000), 0) << "none is due";
  // 60 + 60 seconds are a quarter of 480, of which the second one takes 60.
  EXPECT_EQ(vote(20, 10, 419), 0);
  EXPECT_EQ(vote(23, 10, 420), 1) << "it stays due";
  plan.validated(420, 500, false, state);
  EXPECT_EQ(vote(30, 23, 799), 0);  // 140 + 80 are a quarter of 880
  EXPECT_EQ(vote(30, 23, 800), 1);
  plan.validated(800, 840, true, state);
  EXPECT_EQ(state.validations.spent, 180) << "one that was interrupted took time, too";
  EXPECT_EQ(state.validations.last, 80);
  EXPECT_FALSE(plan.counts(30)) << "the clock must decide neither the learning rate nor the end";
}

TEST(ValidationPlan, CountsMinutesFromTheEndOfTheLastOneOverAllAttempts) {
  TrainOptions options;
  options.validate_every = 0;
  options.validate_minutes = 2;
  ValidationPlan plan(options);
  TrainingState state;
  EXPECT_EQ(plan.vote(7, state, 119), 0);
  EXPECT_EQ(plan.vote(8, state, 120), 1);
  plan.validated(120, 140, true, state);
  EXPECT_EQ(plan.vote(8, state, 141), 1) << "it was interrupted";
  plan.validated(141, 150, false, state);
  state.validated_update = 8;
  EXPECT_EQ(ValidationPlan(options).vote(9, state, 269), 0);
  EXPECT_EQ(ValidationPlan(options).vote(9, state, 270), 1);
  EXPECT_EQ(plan.vote(8, state, 270), 0) << "the same parameters";
  options.validate_every = 9;
  EXPECT_EQ(plan.vote(9, state, 151), 1) << "whichever comes first";
}

}  // namespace
}  // namespace rnnsearch::train

#include "rnnsearch/train/optimizer.h"

#include "rnnsearch/train/trainer.h"
#include "tests/support/communicator.h"
#include "tests/support/test.h"
#include "train/stopping.h"

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

/// Goyal et al. (2017): eta = 0.1 for 256 images (section 5.1), "when the minibatch size is multiplied by k, multiply
/// the learning rate by k" (2.1), and 5 epochs from eta to k eta by a constant amount each iteration (2.2). 8192 images
/// are k = 32 and eta = 3.2.
TEST(LearningRate, IsScaledWithTheBatchAfterAGradualWarmUp) {
  TrainOptions options;
  options.optimizer = OptimizerKind::kSgd;
  options.learning_rate = 0.1;
  options.batch_sentences = 8192;
  options.reference_batch = 256;
  options.scale_learning_rate = ScaleLearningRate::kLinear;
  EXPECT_DOUBLE_EQ(learning_rate(options, {.update = 1}), 3.2) << "without a warm-up";
  options.warmup_updates = 780;  // 5 epochs of 1.28 million images
  EXPECT_DOUBLE_EQ(learning_rate(options, {.update = 1}), 0.1 + 3.1 / 780);
  EXPECT_DOUBLE_EQ(learning_rate(options, {.update = 390}), 0.1 + 3.1 / 2);
  EXPECT_DOUBLE_EQ(learning_rate(options, {.update = 780}), 3.2);
  EXPECT_DOUBLE_EQ(learning_rate(options, {.update = 781}), 3.2);
  options.schedule = Schedule::kInverseSquareRoot;  // begins at 0 (Vaswani et al. 2017)
  EXPECT_DOUBLE_EQ(learning_rate(options, {.update = 390}), 1.6);
  EXPECT_DOUBLE_EQ(learning_rate(options, {.update = 4 * 780}), 1.6);
  options.schedule = Schedule::kConstant;
  options.batch_sentences = 64;  // a smaller batch than that of the reference: from 0, as without scaling
  EXPECT_DOUBLE_EQ(learning_rate(options, {.update = 390}), 0.0125);
  EXPECT_DOUBLE_EQ(learning_rate(options, {.update = 1000}), 0.025);
}

TEST(LearningRate, IsScaledWithTheSquareRootOfTheBatchInItsUnit) {
  TrainOptions options;
  options.learning_rate = 1e-3;
  options.batch_sentences = 80;
  options.batch_words = 64000;
  options.reference_batch = 4000;
  options.scale_learning_rate = ScaleLearningRate::kSquareRoot;
  EXPECT_DOUBLE_EQ(scaled_learning_rate(options), 4e-3);
  options.scale_learning_rate = ScaleLearningRate::kNone;
  EXPECT_EQ(scaled_learning_rate(options), 1e-3);
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

using support::lookup_in;

TEST(JobEnd, IsNotKnownOutsideAJob) {
  for (const auto& environment :
       {lookup_in({}), lookup_in({{"RNNSEARCH_END_TIME", ""}}), lookup_in({{"SLURM_JOB_END_TIME", "0"}})}) {
    const auto deadline = deadline_of({}, environment, 1000);
    EXPECT_FALSE(deadline.unix_seconds);
    EXPECT_THAT(deadline.line, IsEmpty());
  }
}

TEST(JobEnd, LeavesTwoMinutesUnlessToldOtherwise) {
  EXPECT_EQ(deadline_of({}, lookup_in({{"SLURM_JOB_END_TIME", "10000"}}), 1000).unix_seconds, 9880);
  EXPECT_EQ(deadline_of(0.5, lookup_in({{"SLURM_JOB_END_TIME", "10000"}}), 1000).unix_seconds, 9970);
  EXPECT_EQ(deadline_of(0, lookup_in({{"SLURM_JOB_END_TIME", "10000.5"}}), 1000).unix_seconds, 10000.5);
}

TEST(JobEnd, IsWhatTheUserSaysBeforeWhatSlurmSays) {
  const auto both = lookup_in({{"SLURM_JOB_END_TIME", "10000"}, {"RNNSEARCH_END_TIME", "20000"}});
  EXPECT_EQ(deadline_of(1, both, 1000).unix_seconds, 19940);
  EXPECT_FALSE(
      deadline_of({}, lookup_in({{"SLURM_JOB_END_TIME", "10000"}, {"RNNSEARCH_END_TIME", "0"}}), 1000).unix_seconds);
}

TEST(JobEnd, RefusesWhatIsNoTime) {
  for (const char* text : {"soon", "12:30", "-5", "nan", "1e300", "10000 ", "0x10"}) {
    EXPECT_THAT(message_of([&] {
                  deadline_of({}, lookup_in({{"RNNSEARCH_END_TIME", text}}), 1000);
                }),
                AllOf(HasSubstr("RNNSEARCH_END_TIME"), HasSubstr(text), HasSubstr("seconds since 1970")))
        << text;
  }
}

TEST(JobEnd, RefusesAJobWithoutTimeToTrain) {
  EXPECT_THAT(message_of([] {
                deadline_of(10, lookup_in({{"SLURM_JOB_END_TIME", "10000"}}), 9400);
              }),
              AllOf(HasSubstr("10 minutes"), HasSubstr("--stop-before")));
  EXPECT_TRUE(deadline_of(10, lookup_in({{"SLURM_JOB_END_TIME", "10000"}}), 9399).unix_seconds);
}

}  // namespace
}  // namespace rnnsearch::train

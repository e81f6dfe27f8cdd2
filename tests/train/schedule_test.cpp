#include "rnnsearch/train/optimizer.h"

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

}  // namespace
}  // namespace rnnsearch::train

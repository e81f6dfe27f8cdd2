#include "rnnsearch/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <limits>
#include <thread>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/kernels/parallel.h"
#include "rnnsearch/train/signals.h"
#include "tests/support/scratch.h"
#include "tests/support/tiny_corpus.h"
#include "tests/train/tiny_training.h"

namespace rnnsearch::train {
namespace {

/// MPI for the tests of this program: a world of one rank.
class Mpi : public testing::Environment {
 public:
  void SetUp() override { environment_ = std::make_unique<comm::Environment>(); }
  void TearDown() override { environment_->finish(); }

 private:
  std::unique_ptr<comm::Environment> environment_;
};
[[maybe_unused]] const auto* const kMpi = testing::AddGlobalTestEnvironment(new Mpi);

class Training : public testing::Test {
 protected:
  Scratch scratch_;
  corpus::Corpus corpus_{support::make_tiny_corpus(scratch_.path())};

  Outcome run(const std::string& folder, const TrainOptions& options, Validator validator = {}) {
    return attempt(corpus_, scratch_ / folder, options, std::move(validator));
  }
  std::string log(const std::string& folder) { return read_file(scratch_ / folder / "log.jsonl"); }
};

TEST_F(Training, LearnsSomething) {
  TrainOptions options = tiny_options();
  options.max_updates = 150;
  options.learning_rate = 2e-2;
  const auto outcome = run("run", options);
  ASSERT_EQ(outcome.updates.size(), 150U);
  EXPECT_EQ(outcome.result.reason, StopReason::kUpdates);
  EXPECT_NEAR(outcome.updates.front().loss_per_word, std::log(13.0), 0.05);  // 13 words, all alike at first
  double last_epoch = 0;
  for (std::size_t i = 125; i < 150; ++i) last_epoch += outcome.updates[i].loss_per_word / 25;
  EXPECT_LT(last_epoch, 2.1);  // words without their order would give some 2.4
  EXPECT_EQ(outcome.result.state.position, (corpus::DataPosition{6, 0}));
}

TEST_F(Training, GivesTheSameBitsOnOneThreadAndOnTwo) {
  const std::size_t before = kernels::threads();
  kernels::set_threads(1);
  const auto one = run("one", tiny_options());
  kernels::set_threads(2);
  const auto two = run("two", tiny_options());
  kernels::set_threads(before);
  EXPECT_TRUE(one.weights == two.weights);
}

TEST_F(Training, ResumedRepeatsTheUninterruptedRunBitForBit) {
  for (const auto optimizer : {OptimizerKind::kAdam, OptimizerKind::kAdadelta}) {
    TrainOptions options = tiny_options();
    options.optimizer = optimizer;
    options.schedule = Schedule::kPlateau;
    options.plateau_patience = 1;
    const auto whole = run("whole-" + name_of(optimizer), options, dev_loss(corpus_));
    Outcome last;
    for (const std::uint64_t stop : {7U, 20U, 31U, 50U}) {
      TrainOptions part = options;
      part.max_updates = stop;
      // No validation where this attempt ends: the uninterrupted run has none there either.
      part.validate_every = 10;
      last = run("parts-" + name_of(optimizer), part, stop % 10 == 0 ? dev_loss(corpus_) : Validator());
    }
    EXPECT_TRUE(last.weights == whole.weights) << name_of(optimizer);
    ASSERT_EQ(last.updates.size(), 19U);
    for (std::size_t i = 0; i < last.updates.size(); ++i) {
      EXPECT_EQ(last.updates[i].loss_per_word, whole.updates[31 + i].loss_per_word);
    }
  }
}

TEST_F(Training, WritesACheckpointAndStopsWhenSignalled) {
  for (const int signal : {SIGTERM, SIGUSR1}) {
    const std::string folder = text_of("run-", signal);
    const Validator signalling = [&, inner = dev_loss(corpus_)](auto& model, std::uint64_t update, const auto& stop) {
      if (update == 20) std::raise(signal);  // in the middle of a validation
      return inner(model, update, stop);
    };
    const auto stopped = run(folder, tiny_options(), signalling);
    EXPECT_EQ(stopped.result.reason, StopReason::kSignal);
    EXPECT_EQ(stopped.result.state.update, 20U);
    EXPECT_EQ(stopped.result.state.validated_update, 10U);
    EXPECT_THAT(log(folder), testing::HasSubstr("\"event\":\"signal\""));
    const auto resumed = run(folder, tiny_options(), dev_loss(corpus_));
    EXPECT_EQ(resumed.result.reason, StopReason::kUpdates);
    EXPECT_EQ(resumed.result.state.validated_update, 50U);
    EXPECT_EQ(resumed.updates.front().update, 21U);
    EXPECT_TRUE(resumed.weights == run("whole-" + folder, tiny_options(), dev_loss(corpus_)).weights);
  }
}

TEST_F(Training, HarmsNothingWhenSignalledBeforeItsFirstUpdate) {
  {
    const StopSignals signals;  // of the program around the training
    std::raise(SIGTERM);
    const auto stopped = run("run", tiny_options(), dev_loss(corpus_));
    EXPECT_EQ(stopped.result.reason, StopReason::kSignal);
    EXPECT_EQ(stopped.result.state.update, 0U);
    EXPECT_TRUE(std::filesystem::is_empty(scratch_ / "run" / "checkpoints"));
  }
  const auto resumed = run("run", tiny_options(), dev_loss(corpus_));
  EXPECT_EQ(resumed.result.reason, StopReason::kUpdates);
  {
    const StopSignals signals;
    std::raise(SIGUSR1);
    TrainOptions more = tiny_options();
    more.max_updates = 60;
    const auto before = std::filesystem::last_write_time(scratch_ / "run" / "checkpoints" / "update-00000050.h5");
    const auto stopped = run("run", more, dev_loss(corpus_));
    EXPECT_EQ(stopped.result.reason, StopReason::kSignal);
    EXPECT_EQ(stopped.result.state.update, 50U);
    EXPECT_EQ(std::filesystem::last_write_time(scratch_ / "run" / "checkpoints" / "update-00000050.h5"), before);
  }
  EXPECT_TRUE(resumed.weights == run("whole", tiny_options(), dev_loss(corpus_)).weights);
}

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

TEST_F(Training, WritesItsCheckpointBeforeTheDeadline) {
  TrainOptions options = tiny_options();
  options.max_updates = 0;
  const double deadline = unix_seconds() + 1;
  const auto stopped = attempt(corpus_, scratch_ / "run", options, dev_loss(corpus_), deadline);
  EXPECT_LT(unix_seconds(), deadline);
  EXPECT_EQ(stopped.result.reason, StopReason::kDeadline);
  EXPECT_TRUE(is_early(stopped.result.reason));
  EXPECT_GT(stopped.result.state.update, 0U);
  EXPECT_THAT(log("run"), testing::HasSubstr("\"reason\":\"the job's end is near\""));
  options.max_updates = stopped.result.state.update + 5;
  const auto resumed = run("run", options, dev_loss(corpus_));
  EXPECT_EQ(resumed.result.reason, StopReason::kUpdates);
  EXPECT_TRUE(resumed.weights == run("whole", options, dev_loss(corpus_)).weights);
}

TEST_F(Training, LeavesTheTimeOfItsLongestPartBeforeTheDeadline) {
  constexpr auto kLong = std::chrono::milliseconds(400);
  TrainOptions options = tiny_options();
  options.max_updates = 0;
  options.best_metric = BestMetric::kBleu;  // which is never computed: no checkpoint is the best
  const Validator slow_once = [&](auto&, std::uint64_t update, const auto& should_stop) {
    if (should_stop()) return ValidationResult{0, 0, true};
    if (update == 10) std::this_thread::sleep_for(kLong);
    return ValidationResult{1, std::nan(""), false};
  };
  const double deadline = unix_seconds() + 2;
  const auto stopped = attempt(corpus_, scratch_ / "run", options, slow_once, deadline);
  EXPECT_LT(unix_seconds(), deadline - 0.3);
  EXPECT_EQ(stopped.result.reason, StopReason::kDeadline);
  EXPECT_GE(stopped.result.state.validated_update, 10U);
}

TEST_F(Training, LooksAtTheDeadlineInAValidation) {
  TrainOptions options = tiny_options();
  options.checkpoint_every = 5;  // so that it is known how long one takes
  const double deadline = unix_seconds() + 1;
  const Validator endless = [](auto&, std::uint64_t, const auto& should_stop) {
    for (int part = 0; part < 1000; ++part) {
      if (should_stop()) return ValidationResult{0, 0, true};
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return ValidationResult{1, std::nan(""), false};
  };
  const auto stopped = attempt(corpus_, scratch_ / "run", options, endless, deadline);
  EXPECT_LT(unix_seconds(), deadline);
  EXPECT_EQ(stopped.result.reason, StopReason::kDeadline);
  EXPECT_EQ(stopped.result.state.update, 10U);
  EXPECT_EQ(stopped.result.state.validated_update, 0U);
}

TEST_F(Training, DoesNothingWhenItIsDoneAlready) {
  run("run", tiny_options(), dev_loss(corpus_));
  const auto again = run("run", tiny_options(), dev_loss(corpus_));
  EXPECT_TRUE(again.updates.empty());
  EXPECT_EQ(again.result.reason, StopReason::kUpdates);
}

/// Breaks one weight when update 10 is validated; mends it, if asked to, after three more updates.
class Breakage : public Progress {
 public:
  Breakage(model::Model<float>& model, const std::string& parameter, bool mends)
      : weight_(model.parameters()[model.layout().find(parameter).offset]), mends_(mends) {}

  Validator validator() {
    return [this](auto&, std::uint64_t update, const auto&) {
      former_ = weight_;
      if (update == 10) weight_ = std::numeric_limits<float>::quiet_NaN();
      return ValidationResult{1, 1, false};
    };
  }
  void updated(const UpdateReport& report) override {
    EXPECT_EQ(report.skipped, report.update > 10 && (!mends_ || report.update <= 13)) << report.update;
    if (report.update == 13 && mends_) weight_ = former_;
  }

 private:
  float& weight_;
  float former_ = 0;
  bool mends_;
};

TEST_F(Training, SkipsUpdatesWhoseGradientIsNotFinite) {
  // Where a NaN enters: through the recurrence, the attention's softmax, the output's softmax.
  for (const std::string parameter : {"encoder/embedding_bias", "attention/v_a", "readout/b_w"}) {
    SCOPED_TRACE(parameter);
    model::Model<float> model(tiny_model_options(corpus_));
    TrainOptions options = tiny_options();
    options.max_updates = 15;
    RunDirectory run(scratch_ / std::filesystem::path(parameter).filename(), options,
                     identity_of(model.options(), options));
    Breakage breakage(model, parameter, true);
    const auto result = train({comm::Communicator(), corpus_, model, options, &run, breakage.validator(), &breakage});
    EXPECT_EQ(result.state.update, 15U);
    EXPECT_EQ(result.state.skipped_updates, 3U);
    EXPECT_EQ(result.state.skipped_in_a_row, 0U);
    for (const float weight : model.parameters()) ASSERT_TRUE(std::isfinite(weight));
  }
}

TEST_F(Training, GivesUpAfterARunOfSkippedUpdates) {
  model::Model<float> model(tiny_model_options(corpus_));
  TrainOptions options = tiny_options();
  options.max_skipped = 4;
  RunDirectory run(scratch_ / "run", options, identity_of(model.options(), options));
  Breakage breakage(model, "encoder/embedding_bias", false);
  try {
    train({comm::Communicator(), corpus_, model, options, &run, breakage.validator(), &breakage});
    FAIL() << "it went on";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("4 updates in a row were not finite, to update 14"));
  }
}

TEST_F(Training, StopsEarlyAndKeepsTheBest) {
  TrainOptions options = tiny_options();
  options.early_stop_patience = 2;
  options.checkpoint_every = 10;
  options.best_metric = BestMetric::kBleu;
  options.max_updates = 0;
  const Validator scores = [](auto&, std::uint64_t update, const auto&) {
    return ValidationResult{1, update == 20 ? 30.0 : 20.0, false};
  };
  const auto outcome = run("run", options, scores);
  EXPECT_EQ(outcome.result.reason, StopReason::kPatience);
  EXPECT_EQ(outcome.result.state.update, 40U);
  EXPECT_EQ(outcome.result.state.best_update, 20U);
  const auto checkpoints = scratch_ / "run" / "checkpoints";
  EXPECT_EQ(read_file(checkpoints / "best"), "update-00000020.h5\n");
  EXPECT_EQ(read_file(checkpoints / "latest"), "update-00000040.h5\n");
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(checkpoints)) files.push_back(entry.path().filename());
  EXPECT_THAT(files, testing::UnorderedElementsAre("best", "latest", "update-00000020.h5", "update-00000030.h5",
                                                   "update-00000040.h5"));
  EXPECT_EQ(load_model(checkpoints / "update-00000020.h5").update, 20U);
}

TEST_F(Training, StopsByEpochsAndByTheClock) {
  TrainOptions options = tiny_options();
  options.max_updates = 0;
  options.max_epochs = 1;
  const auto epoch = run("epoch", options);
  EXPECT_EQ(epoch.result.reason, StopReason::kEpochs);
  EXPECT_EQ(epoch.result.state.update, 25U);
  options.max_epochs = 0;
  options.max_minutes = 1e-3;
  const auto minutes = run("minutes", options);
  EXPECT_EQ(minutes.result.reason, StopReason::kMinutes);
  EXPECT_GE(minutes.result.state.elapsed_seconds, 0.06);
  EXPECT_TRUE(run("minutes", options).updates.empty());  // the time of earlier attempts counts
}

TEST_F(Training, FollowsTheGradientItWasAskedTo) {
  std::vector<double> norms;
  for (const auto gradient_of : {GradientOf::kSum, GradientOf::kSentence, GradientOf::kWord}) {
    TrainOptions options = tiny_options();
    options.gradient_of = gradient_of;
    options.max_updates = 1;
    norms.push_back(run(name_of(gradient_of), options).updates.front().gradient_norm);
  }
  corpus::BatchOptions first;
  first.batch_sentences = 12;
  first.pool_batches = 4;
  const auto slice = corpus::BatchSequence(corpus_, first, 0, 1).next();
  EXPECT_NEAR(norms[0] / norms[1], static_cast<double>(slice.batch_pairs), 1e-9);
  EXPECT_NEAR(norms[0] / norms[2], static_cast<double>(slice.batch_target_words + slice.batch_pairs), 1e-9);
}

}  // namespace
}  // namespace rnnsearch::train

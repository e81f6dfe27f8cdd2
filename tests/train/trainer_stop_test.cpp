// How a training ends before its limit: by signals, deadlines and numbers that are not finite.
#include <csignal>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/signals.h"
#include "tests/support/test.h"
#include "tests/train/tiny_training.h"

namespace rnnsearch::train {
namespace {

TEST_F(Training, WritesACheckpointAndStopsWhenSignalled) {
  for (const int signal : {SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGVTALRM, SIGPROF,
                           SIGPOLL, SIGPWR, SIGSTKFLT}) {
    SCOPED_TRACE(signal);
    std::signal(signal, SIG_DFL);  // whoever starts the tests may ignore some
    const std::string folder = fmt::format("run-{}", signal);
    const Validator signalling = [&, inner = dev_loss(corpus_)](auto& model, std::uint64_t update, const auto& stop) {
      if (update == 20) std::raise(signal);  // in the middle of a validation
      return inner(model, update, stop);
    };
    const auto stopped = run(folder, tiny_options(), signalling);
    EXPECT_EQ(stopped.result.reason, StopReason::kSignal);
    EXPECT_EQ(stopped.result.state.update, 20U);
    EXPECT_EQ(stopped.result.state.validated_update, 10U);
    EXPECT_THAT(log(folder), HasSubstr("\"event\":\"signal\""));
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

struct Limit {
  double seconds, margin = 0;
};
/// Trains until a deadline, and anew with twice the seconds while the machine is too slow. True if a training ended the
/// margin before its deadline in a state that is enough.
template <class IsEnough>
bool in_time(const corpus::Corpus& corpus, const std::filesystem::path& folder, const TrainOptions& options,
             const Validator& validator, Limit limit, const IsEnough& is_enough) {
  for (; limit.seconds < 200; limit.seconds *= 2) {
    std::filesystem::remove_all(folder);
    const double deadline = unix_seconds() + limit.seconds;
    const auto stopped = attempt(corpus, folder, options, validator, deadline);
    const bool early = unix_seconds() < deadline - limit.margin;
    EXPECT_EQ(stopped.result.reason, StopReason::kDeadline);
    EXPECT_TRUE(is_early(stopped.result.reason));
    if (is_enough(stopped.result.state) && early) return true;
  }
  return false;
}

TEST_F(Training, WritesTheSameCheckpointsInTheBackgroundAsSynchronously) {
  TrainOptions options = tiny_options();
  options.max_updates = 30;
  options.checkpoint_every = 4;
  options.keep_checkpoints = 20;
  options.average_decay = 0.9;
  for (const bool synchronous : {false, true}) {
    options.synchronous_checkpoints = synchronous;
    run(synchronous ? "synchronous" : "background", options, dev_loss(corpus_));
  }
  const auto found = checkpoints_of(scratch_ / "background"), expected = checkpoints_of(scratch_ / "synchronous");
  ASSERT_EQ(found.size(), 9U);  // of updates 4, 8, ..., 28, of the best validation at 10, and of the end
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].filename(), expected[i].filename());
    const auto in_state = [&](const std::filesystem::path& path) {
      const FromCheckpoint last(path, corpus_.fingerprint(), options, tiny_model_options(corpus_), true);
      TrainingState state = last.state;
      state.elapsed_seconds = 0;
      state.validations = {};
      for (double* seconds :
           {&state.interval.data_seconds, &state.interval.compute_seconds, &state.interval.communication_seconds,
            &state.interval.optimizer_seconds, &state.interval.reduction_seconds}) {
        *seconds = 0;
      }
      std::string bytes = bytes_of(last.model.parameters()) + bytes_of(last.average) + packed(state);
      for (const auto& accumulator : last.optimizer->accumulators()) bytes += bytes_of(accumulator.values);
      return fmt::format("{}{}{}", bytes, last.history.updates.size(), last.history.validations.size());
    };
    EXPECT_TRUE(in_state(found[i]) == in_state(expected[i])) << found[i];
    EXPECT_THAT(log("background"), HasSubstr(found[i].filename().string()));
  }
  for (const char* pointer : {"checkpoints/best", "checkpoints/latest"})
    EXPECT_EQ(read_file(scratch_ / "background" / pointer), "update-00000030.h5\n") << pointer;
}

TEST_F(Training, WritesItsCheckpointBeforeTheDeadline) {
  TrainOptions options = tiny_options();
  for (const std::uint64_t checkpoint_every : {0U, 1U}) {  // with 1, another one is always being written
    options.checkpoint_every = checkpoint_every;
    options.max_updates = 0;
    std::uint64_t updates = 0;
    ASSERT_TRUE(in_time(corpus_, scratch_ / "run", options, dev_loss(corpus_), {.seconds = 1},
                        [&](const TrainingState& state) { return (updates = state.update) > 0; }));
    options.max_updates = updates + 5;
    EXPECT_THAT(log("run"), HasSubstr("\"reason\":\"the job's end is near\""));
    const auto resumed = run("run", options, dev_loss(corpus_));
    EXPECT_EQ(resumed.result.reason, StopReason::kUpdates);
    std::filesystem::remove_all(scratch_ / "whole");
    EXPECT_TRUE(resumed.weights == run("whole", options, dev_loss(corpus_)).weights);
  }
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
  EXPECT_TRUE(in_time(corpus_, scratch_ / "run", options, slow_once, {.seconds = 2, .margin = 0.3},
                      [](const TrainingState& state) { return state.validated_update >= 10; }));
}

TEST_F(Training, LooksAtTheDeadlineInAValidation) {
  TrainOptions options = tiny_options();
  options.checkpoint_every = 5;  // so that it is known how long one takes
  const Validator endless = [](auto&, std::uint64_t, const auto& should_stop) {
    for (int part = 0; part < 20000; ++part) {
      if (should_stop()) return ValidationResult{0, 0, true};
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return ValidationResult{1, std::nan(""), false};
  };
  EXPECT_TRUE(in_time(corpus_, scratch_ / "run", options, endless, {.seconds = 3}, [](const TrainingState& state) {
    EXPECT_EQ(state.validated_update, 0U);
    return state.update == 10;
  }));
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
  Breakage(model::Model& model, const std::string& parameter, bool mends)
      : weight_(model.parameters()[model.layout().find(parameter).offset]), mends_(mends) {}

  Validator validator() {
    return [this](auto&, std::uint64_t update, const auto&) {
      former_ = weight_;
      if (update == 10) weight_ = std::numeric_limits<float>::quiet_NaN();
      return ValidationResult{std::nan(""), std::nan(""), false};  // no best, and so no checkpoint
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

/// A training of `model` in `folder` with such a breakage.
TrainingResult train_broken(const corpus::Corpus& corpus, const std::filesystem::path& folder, model::Model& model,
                            const TrainOptions& options, const std::string& parameter, bool mends) {
  RunDirectory run(folder, options, identity_of(model.options(), options));
  Breakage breakage(model, parameter, mends);
  return train({support::communicator(), corpus, model, options, &run, breakage.validator(), &breakage});
}

TEST_F(Training, SkipsUpdatesWhoseGradientIsNotFinite) {
  // Where a NaN enters: through the recurrence, the attention's softmax, the output's softmax.
  for (const std::string parameter : {"encoder/embedding_bias", "attention/v_a", "readout/b_w"}) {
    SCOPED_TRACE(parameter);
    model::Model model(tiny_model_options(corpus_));
    TrainOptions options = tiny_options();
    options.max_updates = 15;
    const auto folder = scratch_ / std::filesystem::path(parameter).filename();
    const auto result = train_broken(corpus_, folder, model, options, parameter, true);
    EXPECT_EQ(result.state.update, 15U);
    EXPECT_EQ(result.state.skipped_updates, 3U);
    EXPECT_EQ(result.state.skipped_in_a_row, 0U);
    for (const float weight : model.parameters()) ASSERT_TRUE(std::isfinite(weight));
  }
}

TEST_F(Training, WritesNoCheckpointOfWeightsThatAreNoNumbers) {
  model::Model model(tiny_model_options(corpus_));
  TrainOptions options = tiny_options();
  options.checkpoint_every = 4;
  options.max_skipped = 100;
  train_broken(corpus_, scratch_ / "run", model, options, "encoder/embedding_bias", false);
  EXPECT_EQ(checkpoints_of(scratch_ / "run").at(0).filename(), "update-00000008.h5");
  EXPECT_EQ(load_model(scratch_ / "run/checkpoints/update-00000004.h5").update, 4U);
}

/// After the first update all parameters are finite, and no gradient is.
TrainOptions diverging_options() {
  TrainOptions options = tiny_options();
  options.optimizer = OptimizerKind::kSgd;
  options.learning_rate = 1e25;
  options.clip_norm = 0;
  options.checkpoint_every = 1;
  return options;
}

TEST_F(Training, KeepsTheCheckpointFromBeforeADivergence) {
  TrainOptions options = diverging_options();
  options.max_skipped = 5;
  options.keep_checkpoints = 2;
  EXPECT_THAT(message_of([&] { run("run", options); }),
              AllOf(HasSubstr("5 updates in a row were not finite, up to update 6"),
                    HasSubstr("update-00000001.h5 are finite: resume")));
  const auto checkpoints = checkpoints_of(scratch_ / "run");
  ASSERT_EQ(checkpoints.size(), 1U);
  EXPECT_EQ(checkpoints.front().filename(), "update-00000001.h5");
}

TEST_F(Training, WritesNoCheckpointOfAnUpdateThatWasSkippedHoweverItEnds) {
  TrainOptions options = diverging_options();
  options.validate_every = 2;
  options.max_updates = 3;
  const auto better_and_better = [](auto&, std::uint64_t update, const auto&) {
    return ValidationResult{5 - static_cast<double>(update), std::nan(""), false};
  };
  const Validator signalling = [&](auto& model, std::uint64_t update, const auto& should_stop) {
    std::raise(SIGTERM);
    return better_and_better(model, update, should_stop);
  };
  const std::pair<Validator, StopReason> ends[] = {
      {{}, StopReason::kUpdates}, {better_and_better, StopReason::kUpdates}, {signalling, StopReason::kSignal}};
  for (const auto& [validator, reason] : ends) {
    std::filesystem::remove_all(scratch_ / "run");
    std::vector<std::string> said;
    set_log_sink([&](std::string_view line) { said.emplace_back(line); });
    const auto outcome = run("run", options, validator);
    set_log_sink({});
    EXPECT_EQ(outcome.result.reason, reason);
    EXPECT_EQ(outcome.result.state.best_update, 0U);
    const auto checkpoints = checkpoints_of(scratch_ / "run");
    ASSERT_EQ(checkpoints.size(), 1U);
    EXPECT_EQ(checkpoints.front().filename(), "update-00000001.h5");
    EXPECT_THAT(said, testing::Contains(HasSubstr("was not finite, so no checkpoint of it is written; the "
                                                  "newest one is of update 1")));
  }
}

TEST_F(Training, WritesADueCheckpointAfterTheNextUpdateThatIsNotSkipped) {
  model::Model model(tiny_model_options(corpus_));
  TrainOptions options = tiny_options();
  options.max_updates = 16;
  options.checkpoint_every = 12;
  // Updates 11 to 13 are skipped.
  train_broken(corpus_, scratch_ / "run", model, options, "encoder/embedding_bias", true);
  const auto checkpoints = checkpoints_of(scratch_ / "run");
  ASSERT_EQ(checkpoints.size(), 2U);
  EXPECT_EQ(checkpoints.back().filename(), "update-00000014.h5");
}

}  // namespace
}  // namespace rnnsearch::train

#include "rnnsearch/train/trainer.h"

#include <csignal>

#include "rnnsearch/base/file.h"
#include "rnnsearch/comm/meet.h"
#include "tests/support/mpi_main.h"
#include "tests/support/test.h"
#include "tests/support/tiny_corpus.h"
#include "tests/support/whole_gradient.h"
#include "tests/train/random_attempts.h"
#include "tests/train/tiny_training.h"

namespace rnnsearch::train {
namespace {

using support::communicator;

/// A folder and a corpus that all ranks see; the root makes and removes them.
class DistributedTraining : public testing::Test {
 protected:
  DistributedTraining() {
    if (communicator().is_root()) {
      scratch_.emplace();
      path_ = scratch_->path().string();
      support::make_tiny_corpus(*path_, 301);
    } else {
      path_.emplace();
    }
    communicator().broadcast(*path_);
    corpus_.emplace(folder() / "corpus.h5");
  }
  ~DistributedTraining() override { communicator().barrier(); }

  std::filesystem::path folder() const { return *path_; }
  Outcome run(const std::string& name, const TrainOptions& options, Validator validator = {}) {
    return attempt(*corpus_, folder() / name, options, std::move(validator));
  }

  std::optional<Scratch> scratch_;
  std::optional<std::string> path_;
  std::optional<corpus::Corpus> corpus_;
};

/// The same training written down once more, for one process: no ranks, no loop machinery.
struct Reference {
  const corpus::Corpus& corpus;
  TrainOptions options;
  model::Model model{tiny_model_options(corpus)};
  std::unique_ptr<Optimizer> optimizer = make_optimizer(options, model.parameters().size());
  corpus::BatchSequence batches{corpus, batch_options(options), 0, 1};
  TrainingState state;
  std::vector<double> losses;

  Reference(const corpus::Corpus& corpus_, const TrainOptions& options_) : corpus(corpus_), options(options_) {
    model.initialise(options.seed);
    state.corpus_fingerprint = corpus.fingerprint();
  }
  void train(std::size_t updates) {
    for (std::size_t i = 0; i < updates; ++i) {
      const auto batch = batches.next();
      model.zero_gradient();
      const auto loss = model.accumulate_gradient(batch.source, batch.target);
      const double words = static_cast<double>(loss.words);
      const std::vector<float> gradient = whole_gradient(model);
      double squares = 0;
      for (const float g : gradient) squares += static_cast<double>(g) * g;
      const double norm = std::sqrt(squares) / words;
      optimizer->update(model.parameters(), gradient, options.learning_rate, std::min(1.0, 1.0 / norm) / words);
      losses.push_back(loss.negative_log_likelihood / words);
      ++state.update;
      state.position = batch.after;
    }
  }
};

/// At the root; elsewhere there are no reports.
void expect_losses(const std::vector<UpdateReport>& updates, const std::vector<double>& expected) {
  if (!communicator().is_root()) return;
  ASSERT_EQ(updates.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(updates[i].loss_per_word / expected[i], 1, 1e-5) << "update " << updates[i].update;
}

TEST_F(DistributedTraining, HasTheLossesOfOneProcess) {
  std::vector<TrainOptions> every(3, tiny_options());
  every[1].batch_words = 90;
  every[2].shuffle = Shuffle::kOnce;
  every[2].batch_order = BatchOrder::kByLength;
  for (std::size_t i = 0; i < every.size(); ++i) {
    SCOPED_TRACE(i);
    Reference reference(*corpus_, every[i]);
    reference.train(50);
    const auto whole = run(fmt::format("whole-{}", i), every[i]);
    expect_losses(whole.updates, reference.losses);
    TrainOptions first = every[i];
    first.max_updates = 33;  // in the second epoch
    run(fmt::format("halves-{}", i), first);
    EXPECT_TRUE(run(fmt::format("halves-{}", i), every[i]).weights == whole.weights);
  }
}

TEST_F(DistributedTraining, GivesEveryRankTheSameBits) {
  const auto all = communicator().gather(run("run", tiny_options(), dev_loss(*corpus_)).weights);
  for (const auto& one : all) EXPECT_TRUE(one == all.front());
}

TEST_F(DistributedTraining, EndsWithTheSameBitsHoweverItIsCutIntoAttempts) {
  expect_no_difference_by_random_attempts(*corpus_, folder(), 3, false);
}

TEST_F(DistributedTraining, GoesOnWithTheSameBatchesAfterAnotherNumberOfRanks) {
  Reference reference(*corpus_, tiny_options());
  reference.train(20);
  if (communicator().is_root()) {
    const auto checkpoint = folder() / "of-one-rank.h5";
    const TrainOptions options = tiny_options();
    save_checkpoint(checkpoint,
                    checkpoint_source(*corpus_, reference.model, *reference.optimizer, reference.state, options));
  }
  communicator().barrier();
  reference.train(30);
  TrainOptions options = tiny_options();
  options.resume = folder() / "of-one-rank.h5";
  const auto outcome = run("run", options);
  EXPECT_EQ(outcome.result.state.position, reference.state.position);
  expect_losses(outcome.updates, {reference.losses.begin() + 20, reference.losses.end()});
}

TEST_F(DistributedTraining, TakesFewerPairsThanRanks) {
  TrainOptions options = tiny_options();
  options.batch_sentences = 1;
  options.pool_batches = 20;
  options.max_updates = 20;
  Reference reference(*corpus_, options);
  reference.train(20);
  expect_losses(run("run", options).updates, reference.losses);
}

TEST_F(DistributedTraining, ValidatesOnAllRanksWhenTheClockOfTheFirstSaysSo) {
  TrainOptions options = tiny_options();
  options.validation_share = 1e-12;  // the first one, and that of the end
  std::vector<std::uint64_t> updates;
  const Validator counting = [&, inner = dev_loss(*corpus_)](auto& model, std::uint64_t update, const auto& stop) {
    updates.push_back(update);
    return inner(model, update, stop);
  };
  EXPECT_TRUE(run("share", options, counting).weights == run("whole", tiny_options(), dev_loss(*corpus_)).weights);
  EXPECT_EQ(updates, (std::vector<std::uint64_t>{10, 50}));
}

TEST_F(DistributedTraining, StopsOnAllRanksWhenOneIsSignalled) {
  // The last rank is signalled while update 10 is validated: all agree at once, and validate it when they go on.
  const Validator signalling = [inner = dev_loss(*corpus_)](auto& model, std::uint64_t update, const auto& stop) {
    if (update == 10 && communicator().rank() == communicator().size() - 1) std::raise(SIGTERM);
    return inner(model, update, stop);
  };
  const auto stopped = run("run", tiny_options(), signalling);
  EXPECT_EQ(stopped.result.reason, StopReason::kSignal);
  EXPECT_EQ(stopped.result.state.update, 10U);
  const auto resumed = run("run", tiny_options(), dev_loss(*corpus_));
  EXPECT_EQ(resumed.result.reason, StopReason::kUpdates);
  EXPECT_EQ(resumed.result.state.validated_update, 50U);
  EXPECT_TRUE(resumed.weights == run("whole", tiny_options(), dev_loss(*corpus_)).weights);
}

TEST_F(DistributedTraining, StopsOnAllRanksByTheRootsClock) {
  TrainOptions options = tiny_options();
  options.max_updates = 0;
  double updates[] = {0, 0};
  // Later where the time was up before the first update. All ranks know the same of that, and go on together.
  for (double seconds = 2; updates[0] == 0 && seconds < 100; seconds *= 2) {
    const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    // The other ranks' deadline is long past; they are not asked.
    const auto stopped = attempt(*corpus_, folder() / fmt::format("run-{:g}", seconds), options, dev_loss(*corpus_),
                                 communicator().is_root() ? now + seconds : now - 1000);
    EXPECT_EQ(stopped.result.reason, StopReason::kDeadline);
    updates[0] = static_cast<double>(stopped.result.state.update);
    updates[1] = -updates[0];
    communicator().max(updates);
    EXPECT_EQ(updates[0], -updates[1]);
  }
  EXPECT_GT(updates[0], 0);
}

TEST_F(DistributedTraining, AgreesOnTheRootsValidation) {
  TrainOptions options = tiny_options();
  options.early_stop_patience = 1;
  const Validator disagreeing = [](auto&, std::uint64_t update, const auto&) {
    return ValidationResult{static_cast<double>(update) + communicator().rank() * (update == 10 ? 100 : -100), 0,
                            false};
  };
  const auto outcome = run("run", options, disagreeing);
  EXPECT_EQ(outcome.result.reason, StopReason::kPatience);
  EXPECT_EQ(outcome.result.state.update, 20U);
  EXPECT_EQ(outcome.result.state.best_score, 10);
}

TEST_F(DistributedTraining, BeginsWithTheSameInitialModelOnAllRanks) {
  TrainOptions options = tiny_options();
  options.max_updates = 3;
  run("former", options);
  options.initial_model = (folder() / "former").string();
  options.initial_optimizer = true;
  options.seed = 7;
  const Outcome outcome = run("now", options);
  std::string of_root = outcome.weights;
  communicator().broadcast(of_root);
  EXPECT_TRUE(outcome.weights == of_root);
  // Adam divides by 1 - beta^t, so that steps and accumulators show in the first update.
  options.initial_optimizer = false;
  EXPECT_FALSE(run("without-optimizer", options).weights == outcome.weights);
  options.initial_model = (folder() / "nowhere").string();
  EXPECT_THROW(run("none", options), comm::AgreedError);
  communicator().barrier();  // the root has removed the folder
  EXPECT_FALSE(std::filesystem::exists(folder() / "none"));
}

}  // namespace
}  // namespace rnnsearch::train

int main(int argc, char** argv) { return rnnsearch::support::run_mpi_tests(argc, argv); }

#include "train/snapshot.h"

#include <future>

#include "rnnsearch/base/file.h"
#include "rnnsearch/train/trainer.h"
#include "tests/support/test.h"
#include "tests/support/tiny_corpus.h"
#include "tests/train/tiny_training.h"

namespace rnnsearch::train {
namespace {

/// A training and its checkpoints.
class CheckpointContent : public ScratchTest {
 protected:
  CheckpointContent() {
    model_.initialise(5);
    std::fill(model_.gradient().begin(), model_.gradient().end(), 0.5F);
    average_.assign(model_.parameters().begin(), model_.parameters().end());
    state_.corpus_fingerprint = corpus_.fingerprint();
    train();
  }

  /// Changes everything that an update changes.
  void train() {
    optimizer_->update(model_.parameters(), model_.gradient(), 1e-3, 1);
    for (float& value : average_) value *= 0.5F;
    ++state_.update;
    history_.updates.push_back({state_.update, 2.5, 1, 100});
    history_.validations.push_back({state_.update, 2, 1});
  }
  CheckpointSource source() {
    return checkpoint_source(corpus_, model_, *optimizer_, state_, options_, history_, average_);
  }
  void begin(CheckpointWriter& writer, bool wait = false) {
    writer.begin(
        state_.update, [&] { return source(); }, wait);
  }
  std::string saved(const CheckpointSource& source) {
    save_checkpoint(scratch_ / "update.h5", source);
    return read_file(scratch_ / "update.h5");
  }

  corpus::Corpus corpus_{support::make_tiny_corpus(scratch_.path())};
  TrainOptions options_ = tiny_options();
  model::Model model_{tiny_model_options(corpus_)};
  std::unique_ptr<Optimizer> optimizer_ = make_optimizer(options_, model_.parameters().size());
  std::vector<float> average_;
  TrainingState state_;
  History history_;
};

using Snapshot = CheckpointContent;
using BackgroundCheckpoint = CheckpointContent;

TEST_F(Snapshot, IsNotChangedByTraining) {
  CheckpointSnapshot snapshot;
  const std::string expected = saved(source());
  const CheckpointSource copy = snapshot.take(source());
  train();
  EXPECT_TRUE(saved(copy) == expected);
  EXPECT_FALSE(saved(source()) == expected);
}

TEST_F(Snapshot, TakenAgainHoldsTheLaterState) {
  CheckpointSnapshot snapshot;
  snapshot.take(source());
  train();
  EXPECT_TRUE(saved(snapshot.take(source())) == saved(source()));
}

TEST_F(Snapshot, TakesTheMemoryThatIsAnnounced) {
  for (const OptimizerKind kind : {OptimizerKind::kAdadelta, OptimizerKind::kAdam, OptimizerKind::kSgd}) {
    for (const double some : {0.0, 0.9}) {
      options_.optimizer = kind;
      options_.momentum = some;
      options_.average_decay = some;
      average_.resize(some > 0 ? model_.parameters().size() : 0);
      optimizer_ = make_optimizer(options_, model_.parameters().size());
      const CheckpointSource all = source();
      std::size_t bytes = all.parameters.size_bytes() + all.average.size_bytes();
      for (const auto& accumulator : all.accumulators) bytes += accumulator.values.size_bytes();
      EXPECT_EQ(snapshot_bytes(options_, model_.parameters().size()), static_cast<double>(bytes)) << name_of(kind);
    }
  }
  options_.synchronous_checkpoints = true;
  EXPECT_EQ(snapshot_bytes(options_, model_.parameters().size()), 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these end the program instead
TEST_F(Snapshot, IsRefusedWithoutMemoryAndNamesTheWayOut) {
  CheckpointSource endless = source();
  endless.parameters = std::span(model_.parameters().data(), std::numeric_limits<std::ptrdiff_t>::max() / 8);
  CheckpointSnapshot snapshot;
  EXPECT_THAT(message_of([&] { snapshot.reserve(endless); }), HasSubstr("--synchronous-checkpoints"));
}
#endif

TEST_F(BackgroundCheckpoint, HoldsWhatWasWhenItBegan) {
  std::promise<void> trained;
  std::string found;
  CheckpointWriter writer([&](const CheckpointSource& source) {
    trained.get_future().wait();
    found = saved(source);
  });
  const std::string expected = saved(source());
  EXPECT_FALSE(writer.busy());
  begin(writer);
  EXPECT_TRUE(writer.busy());
  EXPECT_FALSE(writer.finished(false));
  writer.copied();
  train();
  trained.set_value();
  const auto written = writer.finished(true);
  ASSERT_TRUE(written);
  EXPECT_TRUE(found == expected);
  EXPECT_EQ(written->update, 1U);
  EXPECT_GT(written->pause_seconds, 0);
  EXPECT_FALSE(writer.busy());
  EXPECT_EQ(writer.seconds(), 0);
  EXPECT_FALSE(writer.finished(true));
}

TEST_F(BackgroundCheckpoint, IsNotCopiedForACallerThatWaits) {
  const float* written = nullptr;
  CheckpointWriter writer([&](const CheckpointSource& source) { written = source.parameters.data(); });
  for (const bool wait : {true, false}) {
    begin(writer, wait);
    const auto result = writer.finished(true);
    ASSERT_TRUE(result);
    EXPECT_EQ(written == model_.parameters().data(), wait);
    EXPECT_TRUE(!wait || result->pause_seconds >= result->seconds);
  }
}

TEST_F(BackgroundCheckpoint, HasItsTimeAsSoonAsItIsWritten) {
  CheckpointWriter writer([](const CheckpointSource&) {});
  begin(writer);
  while (writer.busy()) std::this_thread::yield();
  const double seconds = writer.seconds();
  EXPECT_GT(seconds, 0);
  EXPECT_EQ(writer.seconds(), seconds);
  EXPECT_EQ(writer.finished(true)->seconds, seconds);
}

TEST_F(BackgroundCheckpoint, ThatFailsThrowsWhenItIsAskedForAndTheNextIsWritten) {
  bool fails = true;
  CheckpointWriter writer([&](const CheckpointSource&) {
    if (fails) throw Error("the disk is full");
  });
  for (const bool wait : {true, false}) {
    fails = true;
    begin(writer, wait);
    EXPECT_EQ(message_of([&] { writer.finished(true); }), "the disk is full");
    EXPECT_FALSE(writer.finished(true));
    fails = false;
    begin(writer, wait);
    EXPECT_TRUE(writer.finished(true));
  }
}

TEST_F(BackgroundCheckpoint, ThatCannotBeCopiedIsNotWaitedForAndThrows) {
  CheckpointWriter writer([](const CheckpointSource&) { FAIL() << "there is nothing to write"; });
  writer.begin(
      1, [&]() -> CheckpointSource { throw Error("no memory"); }, false);
  writer.copied();
  EXPECT_EQ(message_of([&] { writer.finished(true); }), "no memory");
}

TEST_F(BackgroundCheckpoint, IsNotWrittenOfWeightsThatAreNoNumbers) {
  CheckpointWriter writer([&](const CheckpointSource& source) { saved(source); });
  model_.parameters()[3] = std::numeric_limits<float>::quiet_NaN();
  begin(writer);
  writer.copied();
  model_.parameters()[3] = 0;
  EXPECT_THAT(message_of([&] { writer.finished(true); }), HasSubstr("the training diverged: after update 1 "));
}

TEST_F(BackgroundCheckpoint, IsWrittenBeforeItsWriterIsGone) {
  std::promise<void> destroying;
  bool written = false;
  {
    CheckpointWriter writer([&](const CheckpointSource&) {
      destroying.get_future().wait();
      written = true;
    });
    begin(writer);
    destroying.set_value();
  }
  EXPECT_TRUE(written);
}

}  // namespace
}  // namespace rnnsearch::train

#include "rnnsearch/train/checkpoint.h"

#include "rnnsearch/base/file.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/storage/sealed_file.h"
#include "rnnsearch/train/run_directory.h"
#include "tests/support/communicator.h"
#include "tests/support/test.h"
#include "tests/support/tiny_corpus.h"
#include "tests/train/tiny_training.h"
#include "train/checkpoint_file.h"

namespace rnnsearch::train {
namespace {

TrainingState some_state(const corpus::Corpus& corpus) {
  TrainingState state;
  state.update = 7;
  state.position = {3, 24};
  state.plateau = {0.25, 1.0 / 3, 5, true};
  state.best_score = 0.1;
  state.best_update = 6;
  state.patience = {0.2, 2, true};
  state.validated_update = 5;
  state.measured_by = "loss on dev set 1f";
  state.validations = {70.5, 12.25, 3.5};
  state.former_checkpoint = 6;
  state.elapsed_seconds = 1e9 + 0.1;
  state.skipped_updates = 4;
  state.skipped_in_a_row = 1;
  state.world_size = 3;
  state.corpus_fingerprint = corpus.fingerprint();
  state.interval = {2, 24, 130, 131, 301.25, 155, 0.5, 1.5, 0.25, 0.125, 0.0625, 1U << 20};
  return state;
}

class CheckpointFile : public ScratchTest {
 protected:
  CheckpointFile() {
    model_.initialise(5);
    for (std::size_t i = 0; i < model_.gradient().size(); ++i) model_.gradient()[i] = static_cast<float>(i % 17) - 8;
    optimizer_->update(model_.parameters(), model_.gradient(), 1, 1);
    history_.updates = {{1, 2.5, 1, 100}, {2, 2.25, 0.5, 101}};
    history_.validations = {{2, 2.3, std::nan("")}};
  }

  void save() { save_checkpoint(path_, checkpoint_source(corpus_, model_, *optimizer_, state_, options_, history_)); }
  FromCheckpoint resumed(bool keeps_average = false) {
    return {path_, corpus_.fingerprint(), options_, model_.options(), keeps_average};
  }
  /// What resuming says, for a run that would be done with these options.
  std::string refusal(const model::ModelOptions& model_options, const TrainOptions& options,
                      const std::string& fingerprint) {
    return message_of([&] { FromCheckpoint(path_, fingerprint, options, model_options); });
  }
  std::string refusal() { return refusal(model_.options(), options_, corpus_.fingerprint()); }

  corpus::Corpus corpus_{support::make_tiny_corpus(scratch_.path())};
  TrainOptions options_ = tiny_options();
  model::Model model_{tiny_model_options(corpus_)};
  std::unique_ptr<Optimizer> optimizer_ = make_optimizer(options_, model_.parameters().size());
  TrainingState state_ = some_state(corpus_);
  History history_;
  std::filesystem::path path_ = scratch_ / "update-00000007.h5";
};

TEST_F(CheckpointFile, GivesBackEveryBitOfEveryOptimizer) {
  for (const auto& [kind, momentum, accumulators] :
       {std::tuple{options_.optimizer, 0.0, 2U}, {OptimizerKind::kSgd, 0.0, 0U}, {OptimizerKind::kSgd, 0.9, 1U}}) {
    options_.optimizer = kind;
    options_.momentum = momentum;
    optimizer_ = make_optimizer(options_, model_.parameters().size());
    optimizer_->update(model_.parameters(), model_.gradient(), 1, 1);
    save();
    const FromCheckpoint again = resumed();
    EXPECT_EQ(bytes_of(again.model.parameters()), bytes_of(model_.parameters()));
    const auto found = again.optimizer->accumulators(), expected = optimizer_->accumulators();
    ASSERT_EQ(found.size(), accumulators);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(bytes_of(found[i].values), bytes_of(expected[i].values));
    EXPECT_EQ(again.optimizer->steps, 1U);
  }
}

TEST_F(CheckpointFile, GivesBackEveryBitOfTheStateAndTheHistory) {
  save();
  const FromCheckpoint again = resumed();
  EXPECT_EQ(packed(again.state), packed(state_));
  EXPECT_EQ(packed(training_state_of(packed(state_))), packed(state_));
  ASSERT_EQ(again.history.updates.size(), 2U);
  EXPECT_EQ(again.history.updates[1].loss_per_word, 2.25);
  ASSERT_EQ(again.history.validations.size(), 1U);
  EXPECT_TRUE(std::isnan(again.history.validations[0].bleu));
}

TEST_F(CheckpointFile, HoldsAllThatTranslationNeeds) {
  history_ = {};
  save();
  const auto loaded = load_model(path_);
  EXPECT_EQ(bytes_of(loaded.model.parameters()), bytes_of(model_.parameters()));
  EXPECT_EQ(loaded.model.options(), model_.options());
  EXPECT_EQ(loaded.source_vocabulary.words(), corpus_.source_vocabulary().words());
  EXPECT_EQ(loaded.target_vocabulary.words(), corpus_.target_vocabulary().words());
  EXPECT_EQ(loaded.pipeline, corpus_.pipeline());
  EXPECT_EQ(loaded.update, 7U);
  EXPECT_EQ(loaded.config.at("optimizer"), "adam");
  EXPECT_EQ(loaded.config.at("learning-rate"), "0.005");
  EXPECT_EQ(loaded.config.at("state"), "24");
}

TEST_F(CheckpointFile, SaysWhatMadeItAndWhenItsTextWasSplitByAnotherLibrary) {
  const auto said_when_opened = [&](const corpus::TextPipeline& pipeline) {
    save_checkpoint(path_, {model_, *optimizer_, state_, history_, corpus_.source_vocabulary(),
                            corpus_.target_vocabulary(), pipeline, options_});
    std::string said;
    set_log_sink([&](std::string_view line) { said += line; });
    EXPECT_EQ(open_model(path_, support::communicator()).pipeline, pipeline);
    set_log_sink([](std::string_view) {});
    return said;
  };
  corpus::TextPipeline pipeline = corpus_.pipeline();
  EXPECT_EQ(said_when_opened(pipeline), "");
  const auto libraries_in_file = [&] {
    return storage::open_sealed(path_, "checkpoint").text_attribute("/pipeline", "libraries");
  };
  EXPECT_EQ(libraries_in_file(), "");
  pipeline.tokenizer = "icu-words";
  EXPECT_EQ(said_when_opened(pipeline), "");
  EXPECT_NE(libraries_in_file(), "");
  pipeline.libraries.text = "ICU 50.1";
  EXPECT_THAT(said_when_opened(pipeline), AllOf(HasSubstr("[model] "), HasSubstr("with ICU 50.1, and this")));
  const storage::File file = storage::open_sealed(path_, "checkpoint");
  EXPECT_THAT(file.text_attribute("/", "compiler"), testing::ContainsRegex("(GCC|Clang) [0-9]+"));
  EXPECT_THAT(file.text_attribute("/", "libraries"),
              testing::ContainsRegex("HDF5 .*, .*, ICU [0-9.]+, SentencePiece [0-9.]+"));
}

TEST_F(CheckpointFile, KeepsTheAverageBesideTheParametersAndTranslatesWithIt) {
  std::vector<float> average(model_.parameters().begin(), model_.parameters().end());
  for (std::size_t i = 0; i < average.size(); ++i) average[i] += static_cast<float>(i % 7) * 0.01F;
  save_checkpoint(path_, checkpoint_source(corpus_, model_, *optimizer_, state_, options_, history_, average));
  EXPECT_EQ(bytes_of(load_model(path_).model.parameters()), bytes_of(average));
  const FromCheckpoint again = resumed(true);
  EXPECT_EQ(bytes_of(again.model.parameters()), bytes_of(model_.parameters()));
  EXPECT_EQ(bytes_of(again.average), bytes_of(average));
  EXPECT_EQ(refusal(), "nothing was thrown");  // a training that keeps none goes on from it
}

TEST_F(CheckpointFile, WithoutAnAverageBeginsItWithTheParametersAndSaysSo) {
  save();
  EXPECT_EQ(bytes_of(load_model(path_).model.parameters()), bytes_of(model_.parameters()));
  std::string said;
  set_log_sink([&](std::string_view line) { said += line; });
  const FromCheckpoint again = resumed(true);
  set_log_sink([](std::string_view) {});
  EXPECT_EQ(bytes_of(again.average), bytes_of(model_.parameters()));
  EXPECT_THAT(said, HasSubstr("holds no average of its parameters"));
}

TEST_F(CheckpointFile, RemembersTheArithmeticItWasTrainedIn) {
  save();
  EXPECT_EQ(arithmetic_of(path_), kernels::arithmetic());
  kernels::set_precision(kernels::Precision::kBFloat16);
  const std::string bfloat16 = kernels::arithmetic();
  save();
  kernels::set_precision(kernels::Precision::kFloat32);
  EXPECT_NE(bfloat16, kernels::arithmetic());
  EXPECT_EQ(arithmetic_of(path_), bfloat16);
  EXPECT_EQ(load_model(path_).config.at("arithmetic"), bfloat16);
  EXPECT_EQ(refusal(), "nothing was thrown");  // it is the command that decides who may go on with it
}

TEST_F(CheckpointFile, IsRefusedForAnotherCorpus) {
  save();
  EXPECT_THAT(refusal(model_.options(), options_, "0123"), HasSubstr("was trained on another corpus"));
}

TEST_F(CheckpointFile, IsRefusedWhenDamaged) {
  save();
  const std::string whole = read_file(path_);
  for (std::size_t at = 100; at < whole.size(); at += whole.size() / 7) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    write_text(path_, flipped);
    EXPECT_THAT(refusal(), HasSubstr("checkpoint: ")) << "byte " << at;
    EXPECT_THROW(load_model(path_), Error);
  }
  write_text(path_, whole.substr(0, whole.size() / 2));
  EXPECT_THAT(refusal(), HasSubstr("truncated"));
  std::filesystem::remove(path_);
  EXPECT_THAT(refusal(), HasSubstr("No such file"));
}

TEST_F(CheckpointFile, IsRefusedWhenOfAnotherKindOrVersion) {
  path_ = scratch_ / "corpus.h5";
  EXPECT_THAT(refusal(), HasSubstr("rnnsearch-corpus"));
  path_ = scratch_ / "later.h5";
  {
    storage::SealedWriter writer(path_);
    storage::write_format(writer.file(), "rnnsearch-checkpoint");
    writer.file().write_attribute("/", "format_version", storage::kFormatVersion + 1);
    writer.publish();
  }
  EXPECT_THAT(refusal(), HasSubstr("format version 6"));
}

TEST_F(CheckpointFile, StaysAsItWasWhenTheNextCannotBeWritten) {
  save();
  const std::string before = read_file(path_);
  const auto to_nowhere = scratch_ / "no such folder" / "update-00000008.h5";
  EXPECT_THROW(save_checkpoint(to_nowhere, checkpoint_source(corpus_, model_, *optimizer_, state_, options_)), Error);
  EXPECT_EQ(read_file(path_), before);
}

}  // namespace
}  // namespace rnnsearch::train

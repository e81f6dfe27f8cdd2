#include "cli/options/help.h"

#include <gtest/gtest.h>

#include "cli/options/training_options.h"
#include "rnnsearch/cli/options.h"
#include "rnnsearch/model/options.h"
#include "rnnsearch/train/options.h"

namespace rnnsearch::cli {
namespace {

TrainingSettings settings_of(const char* preset) {
  TrainingSettings settings;
  Options options("train", "", "");
  options.offer_presets();
  add_training_options(options, settings);
  EXPECT_TRUE(options.parse({"--preset", preset}));
  return settings;
}

TEST(Presets, AreAllSystemsThatMakeSense) {
  for (const Preset& preset : presets()) {
    SCOPED_TRACE(preset.name);
    TrainingSettings settings = settings_of(preset.name);
    settings.model.source_words = settings.model.target_words = 30000;
    EXPECT_NO_THROW(model::check(settings.model));
    EXPECT_NO_THROW(train::check(settings.train));
    const std::string name = preset.name, system = model::system_of(settings.model);
    EXPECT_EQ(system == "RNNsearch" || system == "RNNencdec", name.starts_with("rnn") || name == "small");
  }
}

TEST(Presets, ChangeTheOptionsThatTheyState) {
  const TrainingSettings longer = settings_of("rnnsearch-50"), shorter = settings_of("rnnsearch-30"),
                         baseline = settings_of("rnnencdec-30");
  EXPECT_EQ(longer.model.state, 1000U);
  EXPECT_TRUE(shorter.model == longer.model);
  EXPECT_EQ(longer.train.max_updates, 288000U);
  EXPECT_EQ(shorter.train.max_updates, 471000U);
  EXPECT_EQ(baseline.model.state, 1000U);  // of rnnsearch-50, which rnnencdec-50 changes
  EXPECT_FALSE(baseline.model.attends());
  EXPECT_EQ(baseline.train.max_updates, 846000U);
}

/// The options with which tests/model/notebook_replay_test.cpp replays the notebook.
TEST(Presets, HaveTheNotebookAsItIsPrinted) {
  model::ModelOptions printed;
  printed.embedding = printed.state = printed.alignment = 16;
  printed.cell = model::Cell::kTanh;
  printed.encoder = model::Encoder::kBidirectional;
  printed.initial_state = model::InitialState::kZero;
  printed.state_word = model::Step::kPrevious;
  printed.readout = model::Readout::kLinear;
  printed.readout_state = model::Step::kCurrent;
  printed.feedback = model::Feedback::kOutput;
  printed.start = model::Start::kEmbedded;
  printed.embedding_biases = false;
  printed.source_end = false;
  printed.initialization = model::Initialization::kGaussian;
  printed.initial_deviation = 0.01;
  EXPECT_TRUE(settings_of("notebook-as-printed").model == printed);
}

}  // namespace
}  // namespace rnnsearch::cli

#include "rnnsearch/train/update.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rnnsearch/base/random.h"
#include "tests/support/mpi_main.h"

namespace rnnsearch::train {
namespace {

const comm::Communicator world;

Sentences sentences(std::uint64_t seed) {
  Random random(seed);
  Sentences result;
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<WordId> words(4 + i);
    for (WordId& word : words) word = static_cast<WordId>(3 + random.below(7));
    result.add(words);
  }
  return result;
}

class Update : public testing::Test {
 protected:
  Update() : model_(model_options()), step_(world, model_, options_) { model_.initialise(1); }

  static model::ModelOptions model_options() {
    model::ModelOptions options;
    options.source_words = options.target_words = 10;
    options.embedding = options.state = options.alignment = options.maxout = 8;
    return options;
  }

  TrainOptions options_;
  model::Model<float> model_;
  UpdateStep step_;
  const Sentences source_ = sentences(1), target_ = sentences(2);  // of every rank
};

TEST_F(Update, SumsLossWordsAndVotesOverTheRanks) {
  const double ranks = world.size();
  const model::Loss own = model_.loss(source_, target_);
  std::vector<double> votes{0, 5};
  const auto result = step_.run({source_, target_, 3, 1, votes, [&] { votes[0] = world.rank(); }});
  EXPECT_TRUE(result.applied);
  EXPECT_NEAR(result.negative_log_likelihood / own.negative_log_likelihood, ranks, 1e-5);
  EXPECT_EQ(result.words, ranks * static_cast<double>(own.words));
  EXPECT_EQ(votes, (std::vector<double>{ranks * (ranks - 1) / 2, 5 * ranks}));
  EXPECT_EQ(step_.optimizer().steps, 1);
  for (const Phase phase : kPhases) EXPECT_GT(result.phases.seconds(phase), 0) << name_of(phase);
  EXPECT_LE(result.phases.seconds(),
            result.compute_seconds + result.communication_seconds + result.optimizer_seconds + 1e-6);
}

TEST_F(Update, LeavesTheWeightsWhenOneRanksGradientIsNotFinite) {
  const std::vector<float> before(model_.parameters().begin(), model_.parameters().end());
  if (world.is_root()) model_.parameters()[0] = model_.parameters().back() = std::numeric_limits<float>::quiet_NaN();
  const auto result = step_.run({source_, target_, 3, 1});
  EXPECT_FALSE(result.applied);
  EXPECT_EQ(step_.optimizer().steps, 0);
  for (std::size_t i = 1; i + 1 < before.size(); ++i) ASSERT_EQ(model_.parameters()[i], before[i]);
}

}  // namespace
}  // namespace rnnsearch::train

#include "rnnsearch/train/update.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/random.h"
#include "tests/support/mpi_main.h"
#include "tests/support/whole_gradient.h"

namespace rnnsearch::train {
namespace {

using support::communicator;

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
  Update() : model_(model_options()), step_(communicator(), model_, options_) { model_.initialise(1); }

  static model::ModelOptions model_options() {
    model::ModelOptions options;
    options.source_words = options.target_words = 10;
    options.embedding = options.state = options.alignment = options.maxout = 8;
    return options;
  }

  TrainOptions options_;
  model::Model model_;
  UpdateStep step_;
  const Sentences source_ = sentences(1), target_ = sentences(2);  // of every rank
};

TEST_F(Update, SumsLossWordsAndVotesOverTheRanks) {
  const double ranks = communicator().size();
  const model::Loss own = model_.loss(source_, target_);
  std::vector<double> votes{0, 5};
  const auto result = step_.run({source_, target_, 3, 1, votes, [&] { votes[0] = communicator().rank(); }});
  EXPECT_TRUE(result.applied);
  EXPECT_NEAR(result.negative_log_likelihood / own.negative_log_likelihood, ranks, 1e-5);
  EXPECT_EQ(result.words, ranks * static_cast<double>(own.words));
  EXPECT_EQ(votes, (std::vector<double>{ranks * (ranks - 1) / 2, 5 * ranks}));
  EXPECT_EQ(step_.optimizer().steps, 1);
  for (const Phase phase : kPhases) EXPECT_GT(result.phases.seconds(phase), 0) << name_of(phase);
  EXPECT_LE(result.phases.seconds(),
            result.compute_seconds + result.communication_seconds + result.optimizer_seconds + 1e-6);
}

// Every piece multiplies its distinct words and </s>.
TEST_F(Update, CountsAllPiecesOfItsShare) {
  options_.accumulate = 3;
  const model::BatchSize batch = step_.run({source_, target_, 3, 1}).own_batch;
  double words = 0, source = 0, target = 0;
  for (std::size_t i = 0; i < source_.size(); ++i) {
    words += static_cast<double>(source_.length(i)) + 1;
    source += static_cast<double>(std::set(source_[i].begin(), source_[i].end()).size()) + 1;
    target += static_cast<double>(std::set(target_[i].begin(), target_[i].end()).size()) + 1;
  }
  EXPECT_EQ(batch.pairs, 3);
  EXPECT_EQ(batch.source_words, words);
  EXPECT_EQ(batch.target_words, words);  // as long
  EXPECT_EQ(batch.source_embeddings, source);
  EXPECT_EQ(batch.target_embeddings, target);
}

TEST_F(Update, LeavesTheWeightsWhenOneRanksGradientIsNotFinite) {
  const std::vector<float> before(model_.parameters().begin(), model_.parameters().end());
  if (communicator().is_root())
    model_.parameters()[0] = model_.parameters().back() = std::numeric_limits<float>::quiet_NaN();
  const auto result = step_.run({source_, target_, 3, 1});
  EXPECT_FALSE(result.applied);
  EXPECT_EQ(step_.optimizer().steps, 0);
  for (std::size_t i = 1; i + 1 < before.size(); ++i) ASSERT_EQ(model_.parameters()[i], before[i]);
}

/// Five updates, each rank with sentences of its own; some ranks of some updates have none.
std::vector<float> weights_after_updates(const TrainOptions& options, const model::ModelOptions& sizes) {
  model::Model model(sizes);
  model.initialise(1);
  UpdateStep step(communicator(), model, options);
  for (std::uint64_t update = 0; update < 5; ++update) {
    const auto rank = static_cast<std::uint64_t>(communicator().rank()),
               ranks = static_cast<std::uint64_t>(communicator().size());
    const bool none = update == 3 && rank + 1 == ranks;
    const Sentences source = none ? Sentences{} : sentences(10 * update + rank);
    const Sentences target = none ? Sentences{} : sentences(1000 + 10 * update + rank);
    EXPECT_TRUE(step.run({source, target, 12, 1, {}, {}, update, rank, ranks}).applied);
  }
  return {model.parameters().begin(), model.parameters().end()};
}

TEST_F(Update, HasTheSameBitsWithAndWithoutOverlap) {
  for (const auto attention : {model::Attention::kAdditive, model::Attention::kNone}) {
    auto sizes = model_options();
    sizes.attention = attention;
    TrainOptions options;
    const auto with = weights_after_updates(options, sizes);
    options.overlap = false;
    EXPECT_TRUE(with == weights_after_updates(options, sizes));
  }
}

/// Tables by rows and whole ones, of one side and of both: what the ranks make of them is what one process makes of all
/// their sentences, and the same bits with and without overlap.
TEST_F(Update, OfTiedTablesIsThatOfOneProcess) {
  using Tied = model::TiedEmbeddings;
  for (const auto& [tied, source_start] :
       {std::pair{Tied::kNone, false}, std::pair{Tied::kNone, true}, std::pair{Tied::kTarget, false},
        std::pair{Tied::kSourceTarget, false}, std::pair{Tied::kSourceTarget, true}, std::pair{Tied::kAll, false}}) {
    SCOPED_TRACE(name_of(tied));
    auto sizes = model_options();
    sizes.tied_embeddings = tied;
    sizes.state_word = model::Step::kPrevious;
    sizes.start = source_start ? model::Start::kZero : model::Start::kEmbedded;
    if (source_start) {  // <s> is a row of the source's table alone
      sizes.attention = model::Attention::kNone;
      sizes.source_start = true;
    }
    TrainOptions options;
    const auto found = weights_after_updates(options, sizes);

    model::Model model(sizes);
    model.initialise(1);
    const auto optimizer = make_optimizer(options, model.parameters().size());
    for (std::uint64_t update = 0; update < 5; ++update) {
      model.zero_gradient();
      const auto ranks = static_cast<std::uint64_t>(communicator().size()) - (update == 3 ? 1 : 0);
      for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        model.accumulate_gradient(sentences(10 * update + rank), sentences(1000 + 10 * update + rank));
      }
      const std::vector<float> gradient = whole_gradient(model);
      optimizer->update(model.parameters(), gradient, 1, std::min(1.0, 1 / std::sqrt(squared_norm_of(gradient))));
    }
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      difference += std::pow(static_cast<double>(found[i] - model.parameters()[i]), 2);
      size += std::pow(static_cast<double>(found[i]), 2);
    }
    EXPECT_LT(std::sqrt(difference / size), 1e-5);

    options.overlap = false;
    EXPECT_TRUE(found == weights_after_updates(options, sizes));
  }
}

/// A batch of 19 pairs, or of 7 in update 3, so that some shards are empty. Pair i belongs to shard i mod S.
std::pair<Sentences, Sentences> shard_of(std::uint64_t shard, std::uint64_t shards, std::uint64_t update) {
  std::pair<Sentences, Sentences> result;
  for (std::uint64_t i = shard; i < (update == 3 ? 7U : 19U); i += shards) {
    result.first.add(sentences(1000 * update + i)[i % 3]);
    result.second.add(sentences(1000 * update + 500 + i)[(i + 1) % 3]);
  }
  return result;
}

/// The same, written down once more for one process: the gradient of each shard alone, then neighbours added
/// in pairs, level by level.
std::vector<float> weights_of_one_process(std::uint64_t shards, const TrainOptions& options,
                                          const model::ModelOptions& sizes, std::vector<double>& losses) {
  model::Model model(sizes);
  model.initialise(1);
  const auto optimizer = make_optimizer(options, model.parameters().size());
  for (std::uint64_t update = 0; update < 5; ++update) {
    std::vector<std::vector<float>> level;
    losses.push_back(0);
    for (std::uint64_t shard = 0; shard < shards; ++shard) {
      const auto [source, target] = shard_of(shard, shards, update);
      model.zero_gradient();
      model::GradientOptions how;
      how.dropout_seed = {options.seed, update, shard, shards};
      losses.back() += model.accumulate_gradient(source, target, how).negative_log_likelihood;
      level.push_back(whole_gradient(model));
    }
    while (level.size() > 1) {
      std::vector<std::vector<float>> next;
      for (std::size_t i = 0; i < level.size(); i += 2) {
        next.push_back(level[i]);
        if (i + 1 == level.size()) continue;
        for (std::size_t k = 0; k < next.back().size(); ++k) next.back()[k] = level[i][k] + level[i + 1][k];
      }
      level = next;
    }
    optimizer->update(model.parameters(), level.front(), 0.1, 1);
  }
  return {model.parameters().begin(), model.parameters().end()};
}

TEST_F(Update, OfShardsHasTheBitsOfOneProcess) {
  const auto rank = static_cast<std::uint64_t>(communicator().rank()),
             ranks = static_cast<std::uint64_t>(communicator().size());
  for (const std::uint64_t each : {1, 2, 3, 4}) {
    for (const double dropout : {0.0, 0.3}) {
      for (const bool overlap : {true, false}) {
        SCOPED_TRACE(testing::Message() << each << " shards a rank, dropout " << dropout << ", overlap " << overlap);
        auto sizes = model_options();
        sizes.dropout = dropout;
        TrainOptions options;
        options.optimizer = OptimizerKind::kSgd;
        options.clip_norm = 0;
        options.reproducible_shards = each * ranks;
        options.overlap = overlap;
        model::Model model(sizes);
        model.initialise(1);
        UpdateStep step(communicator(), model, options);
        std::vector<double> losses, expected_losses;
        for (std::uint64_t update = 0; update < 5; ++update) {
          Sentences source, target;
          for (std::uint64_t place = 0; place < 19; ++place) {  // runs of one pair of each shard
            for (std::uint64_t shard = rank * each; shard < (rank + 1) * each; ++shard) {
              const auto pairs = shard_of(shard, each * ranks, update);
              if (place >= pairs.first.size()) continue;
              source.add(pairs.first[place]);
              target.add(pairs.second[place]);
            }
          }
          const auto result = step.run({source, target, 19, 0.1, {}, {}, update, rank * each, each * ranks});
          EXPECT_TRUE(result.applied);
          losses.push_back(result.negative_log_likelihood);
        }
        const auto expected = weights_of_one_process(each * ranks, options, sizes, expected_losses);
        EXPECT_EQ(losses, expected_losses);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), model.parameters().begin()));
      }
    }
  }
}

TEST_F(Update, RefusesShardsThatTheRanksCannotShareEvenly) {
  TrainOptions options;
  options.reproducible_shards = static_cast<std::uint64_t>(2 * communicator().size() + 1);
  EXPECT_THROW(UpdateStep(communicator(), model_, options), Error);
}

TEST_F(Update, LeavesAllRanksWithTheSameWeights) {
  const auto weights = weights_after_updates(TrainOptions(), model_options());
  auto of_root = weights;
  communicator().broadcast(std::span(of_root));
  EXPECT_TRUE(weights == of_root);
}

TEST_F(Update, InPiecesIsTheSameButForRounding) {
  for (const double dropout : {0.0, 0.3}) {  // the masks of a pair are the same in every piece
    auto sizes = model_options();
    sizes.dropout = dropout;
    TrainOptions options;
    const auto whole = weights_after_updates(options, sizes);
    options.accumulate = 2;
    const auto pieces = weights_after_updates(options, sizes);
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      difference += std::pow(static_cast<double>(pieces[i] - whole[i]), 2);
      size += std::pow(static_cast<double>(whole[i]), 2);
    }
    EXPECT_LT(std::sqrt(difference / size), 1e-5) << "dropout " << dropout;
    options.overlap = false;
    EXPECT_TRUE(pieces == weights_after_updates(options, sizes)) << "dropout " << dropout;
  }
}

}  // namespace
}  // namespace rnnsearch::train

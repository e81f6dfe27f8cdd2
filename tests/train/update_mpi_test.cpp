#include "rnnsearch/train/update.h"

#include "tests/support/floats.h"
#include "tests/support/mpi_main.h"
#include "tests/support/test.h"
#include "tests/support/whole_gradient.h"
#include "train/shard_sums.h"

namespace rnnsearch::train {
namespace {

using support::communicator;

Sentences sentences(std::uint64_t seed, std::uint64_t first_word = 3) {
  Random random(seed);
  Sentences result;
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<WordId> words(4 + i);
    for (WordId& word : words) word = static_cast<WordId>(first_word + random.below(7));
    result.add(words);
  }
  return result;
}

const std::vector<WordId> kSample{kEnd, 3, 4, 5, 6, 7, 8, 9};
std::uint64_t own_rank() { return static_cast<std::uint64_t>(communicator().rank()); }
std::uint64_t rank_count() { return static_cast<std::uint64_t>(communicator().size()); }

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
  const corpus::BatchSlice share_{.source = sentences(1), .target = sentences(2), .batch_pairs = 3};  // of every rank
  const Sentences &source_ = share_.source, &target_ = share_.target;
};

TEST_F(Update, SumsLossWordsAndVotesOverTheRanks) {
  const double ranks = communicator().size();
  const model::Loss own = model_.loss(source_, target_);
  std::vector<double> votes{0, 5};
  const auto result = step_.run({share_, 1, votes, [&] { votes[0] = communicator().rank(); }});
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
  const model::BatchSize batch = step_.run({share_, 1}).own_batch;
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
  const auto result = step_.run({share_, 1});
  EXPECT_FALSE(result.applied);
  EXPECT_EQ(step_.optimizer().steps, 0);
  for (std::size_t i = 1; i + 1 < before.size(); ++i) ASSERT_EQ(model_.parameters()[i], before[i]);
}

/// One update by the gradients of the pairs of all ranks, one by one, weighted by hand.
TEST_F(Update, MultipliesTheGradientOfAPairByItsWeightAndDividesByAllPairsOrWords) {
  const std::uint64_t rank = own_rank(), ranks = rank_count();
  const auto weights_of = [](std::uint64_t of) { return std::vector<float>{0.5F, 0, 1.5F + static_cast<float>(of)}; };
  for (const GradientOf gradient_of : {GradientOf::kSum, GradientOf::kSentence, GradientOf::kWord}) {
    for (const std::uint64_t pieces : {1, 2}) {
      TrainOptions options;
      options.optimizer = OptimizerKind::kSgd;
      options.clip_norm = 0;
      options.gradient_of = gradient_of;
      options.accumulate = pieces;
      model::Model model(model_options());
      model.initialise(1);
      UpdateStep step(communicator(), model, options);
      const corpus::BatchSlice share{.source = sentences(10 + rank),
                                     .target = sentences(20 + rank),
                                     .weights = weights_of(rank),
                                     .batch_pairs = 3 * ranks};
      const auto result = step.run({share, 0.5});

      std::vector<double> gradient(model_.parameters().size());
      double loss = 0, words = 0;
      for (std::uint64_t of = 0; of < ranks; ++of) {
        const Sentences source = sentences(10 + of), target = sentences(20 + of);
        for (std::size_t i = 0; i < 3; ++i) {
          Sentences one, other;
          one.add(source[i]);
          other.add(target[i]);
          model_.zero_gradient();
          const model::Loss own = model_.accumulate_gradient(one, other);
          loss += own.negative_log_likelihood;
          words += static_cast<double>(own.words);
          const std::vector<float> found = whole_gradient(model_);
          for (std::size_t k = 0; k < gradient.size(); ++k)
            gradient[k] += static_cast<double>(weights_of(of)[i]) * static_cast<double>(found[k]);
        }
      }
      EXPECT_NEAR(result.negative_log_likelihood, loss, 1e-4) << "the loss is not weighted";
      EXPECT_EQ(result.words, words);
      const double divisor = gradient_of == GradientOf::kSum        ? 1
                             : gradient_of == GradientOf::kSentence ? 3 * static_cast<double>(ranks)
                                                                    : words;
      double difference = 0, size = 0;
      for (std::size_t k = 0; k < gradient.size(); ++k) {
        const double before = static_cast<double>(model_.parameters()[k]), step_of = 0.5 * gradient[k] / divisor;
        difference += std::pow(static_cast<double>(model.parameters()[k]) - (before - step_of), 2);
        size += step_of * step_of;
      }
      EXPECT_LT(std::sqrt(difference / size), 1e-4) << name_of(gradient_of) << " in " << pieces << " pieces";
    }
  }
}

/// |one - other| / |one|, by Euclidean norms.
double relative_difference(const std::vector<float>& one, std::span<const float> other) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    difference += std::pow(static_cast<double>(one[i] - other[i]), 2);
    size += std::pow(static_cast<double>(one[i]), 2);
  }
  return std::sqrt(difference / size);
}

/// Five updates, each rank with sentences of its own; some ranks of some updates have none. The bits are those of all
/// ranks, with and without overlap.
std::vector<float> weights_after_updates(TrainOptions options, const model::ModelOptions& sizes,
                                         const std::vector<WordId>& sample = {}) {
  const std::uint64_t rank = own_rank(), ranks = rank_count();
  std::vector<float> weights;
  for (const bool overlap : {true, false}) {
    options.overlap = overlap;
    model::Model model(sizes, !sample.empty());
    model.initialise(1);
    UpdateStep step(communicator(), model, options);
    for (std::uint64_t update = 0; update < 5; ++update) {
      const bool none = update == 3 && rank + 1 == ranks;
      corpus::BatchSlice share{.batch_pairs = 12, .first_pair = rank, .pair_stride = ranks};
      if (!none) share.source = sentences(10 * update + rank, sizes.source_words - 7);
      if (!none) share.target = sentences(1000 + 10 * update + rank);
      share.sample = std::make_shared<const std::vector<WordId>>(sample);
      EXPECT_TRUE(step.run({.share = share, .learning_rate = 1, .update = update}).applied);
    }
    if (overlap) weights.assign(model.parameters().begin(), model.parameters().end());
    communicator().broadcast(std::span(weights));
    EXPECT_TRUE(std::ranges::equal(weights, model.parameters())) << "overlap " << overlap;
  }
  return weights;
}

TEST_F(Update, HasTheSameBitsWithAndWithoutOverlapWithoutAttention) {
  auto sizes = model_options();
  sizes.attention = model::Attention::kNone;
  weights_after_updates(TrainOptions(), sizes);
}

/// What the ranks make of tables by rows and of whole ones is what one process makes of whole gradients.
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
    for (const std::vector<WordId>& sample : {std::vector<WordId>(), {kEnd, 3, 4, 5, 6, 7, 8, 9, 11, 14}}) {
      if (!sample.empty()) sizes.source_words = sizes.target_words = 20;
      TrainOptions options;
      const auto found = weights_after_updates(options, sizes, sample);

      model::Model model(sizes);
      model.initialise(1);
      const auto optimizer = make_optimizer(options, model.parameters().size());
      for (std::uint64_t update = 0; update < 5; ++update) {
        model.zero_gradient();
        const std::uint64_t ranks = rank_count() - (update == 3 ? 1 : 0);
        for (std::uint64_t rank = 0; rank < ranks; ++rank)
          model.accumulate_gradient(sentences(10 * update + rank, sizes.source_words - 7),
                                    sentences(1000 + 10 * update + rank), {.sample = sample});
        const std::vector<float> gradient = whole_gradient(model);
        optimizer->update(model.parameters(), gradient, 1, std::min(1.0, 1 / std::sqrt(squared_norm_of(gradient))));
      }
      EXPECT_LT(relative_difference(found, model.parameters()), 1e-5);
    }
  }
}

struct Pairs {
  Sentences source, target;
  std::vector<float> weights;
};
/// A batch of 19 pairs, or of 7 in update 3, so that some shards are empty. Pair i belongs to shard i mod S.
Pairs shard_of(std::uint64_t shard, std::uint64_t shards, std::uint64_t update) {
  Pairs pairs;
  for (std::uint64_t i = shard; i < (update == 3 ? 7U : 19U); i += shards) {
    pairs.source.add(sentences(1000 * update + i)[i % 3]);
    pairs.target.add(sentences(1000 * update + 500 + i)[(i + 1) % 3]);
    pairs.weights.push_back(0.3F * static_cast<float>(i % 4));
  }
  return pairs;
}

/// The same, written down once more for one process: the gradient of each shard alone, then neighbours added
/// in pairs, level by level.
std::vector<float> weights_of_one_process(std::uint64_t shards, const TrainOptions& options,
                                          const model::ModelOptions& sizes, std::span<const WordId> sample,
                                          std::vector<double>& losses) {
  model::Model model(sizes);
  model.initialise(1);
  const auto optimizer = make_optimizer(options, model.parameters().size());
  for (std::uint64_t update = 0; update < 5; ++update) {
    std::vector<std::vector<float>> gradients;
    losses.push_back(0);
    for (std::uint64_t shard = 0; shard < shards; ++shard) {
      const auto [source, target, weights] = shard_of(shard, shards, update);
      model.zero_gradient();
      model::GradientOptions how;
      how.dropout_seed = {options.seed, update, shard, shards};
      how.weights = weights;
      how.sample = sample;
      losses.back() += model.accumulate_gradient(source, target, how).negative_log_likelihood;
      gradients.push_back(whole_gradient(model));
    }
    optimizer->update(model.parameters(), sum_in_pairs(gradients), 0.1, 1);
  }
  return {model.parameters().begin(), model.parameters().end()};
}

TEST_F(Update, OfShardsHasTheBitsOfOneProcess) {
  const std::uint64_t rank = own_rank(), ranks = rank_count();
  for (const std::uint64_t each : {1, 2, 3, 4}) {
    for (const double dropout : {0.0, 0.3}) {
      for (const std::size_t combination : {0, 1, 2, 3}) {
        const bool overlap = combination % 2 == 0, sampled = combination >= 2;
        SCOPED_TRACE(fmt::format("{} a rank, dropout {}, overlap {}, sampled {}", each, dropout, overlap, sampled));
        auto sizes = model_options();
        sizes.dropout = dropout;
        TrainOptions options;
        options.optimizer = OptimizerKind::kSgd;
        options.clip_norm = 0;
        options.reproducible_shards = each * ranks;
        options.overlap = overlap;
        const std::vector<WordId> sample = sampled ? kSample : std::vector<WordId>();
        if (sampled) sizes.tied_embeddings = model::TiedEmbeddings::kAll;
        model::Model model(sizes, sampled);
        model.initialise(1);
        UpdateStep step(communicator(), model, options);
        std::vector<double> losses, expected_losses;
        for (std::uint64_t update = 0; update < 5; ++update) {
          corpus::BatchSlice share{.batch_pairs = 19, .first_pair = rank * each, .pair_stride = each * ranks};
          share.sample = std::make_shared<const std::vector<WordId>>(sample);
          for (std::uint64_t place = 0; place < 19; ++place) {  // runs of one pair of each shard
            for (std::uint64_t shard = rank * each; shard < (rank + 1) * each; ++shard) {
              const auto pairs = shard_of(shard, each * ranks, update);
              if (place >= pairs.source.size()) continue;
              share.source.add(pairs.source[place]);
              share.target.add(pairs.target[place]);
              share.weights.push_back(pairs.weights[place]);
            }
          }
          const auto result = step.run({.share = share, .learning_rate = 0.1, .update = update});
          EXPECT_TRUE(result.applied);
          losses.push_back(result.negative_log_likelihood);
        }
        const auto expected = weights_of_one_process(each * ranks, options, sizes, sample, expected_losses);
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

TEST_F(Update, InPiecesIsTheSameButForRounding) {
  for (const double dropout : {0.0, 0.3}) {  // the masks of a pair are the same in every piece
    for (const std::vector<WordId>& sample : {std::vector<WordId>(), kSample}) {
      auto sizes = model_options();
      sizes.dropout = dropout;
      if (!sample.empty()) sizes.tied_embeddings = model::TiedEmbeddings::kAll;
      TrainOptions options;
      const auto whole = weights_after_updates(options, sizes, sample);
      options.accumulate = 2;
      EXPECT_LT(relative_difference(whole, weights_after_updates(options, sizes, sample)), 1e-5) << dropout;
    }
  }
}

constexpr std::size_t kTableRows = 70, kCols = 5;

/// The words of a rank in an update, without repetition, and their gradients: about 1, which bfloat16 rounds always in
/// the same direction.
struct Drawn {
  std::vector<WordId> words;
  std::vector<float> gradients;  // [words.size(), kCols]
};
Drawn drawn(std::uint64_t update, int rank) {
  Random random(1000 * update + static_cast<std::uint64_t>(rank));
  std::set<WordId> words;
  for (std::uint64_t left = random.below(20); left > 0; --left)
    words.insert(static_cast<WordId>(3 + random.below(kTableRows - 3)));
  Drawn result{{words.begin(), words.end()}, {}};
  random.shuffle(result.words);
  for (std::size_t i = 0; i < result.words.size() * kCols; ++i)
    result.gradients.push_back(1.001F + 1e-4F * static_cast<float>(random.below(10)));
  return result;
}

struct Sums {
  std::vector<double> found = std::vector<double>(kTableRows * kCols), expected = found;  // of all updates
};
Sums sums_of(std::uint64_t updates) {
  model::Model::TableGradient table;
  table.source = true;
  table.rows = {kTableRows, kCols};
  model::ModelOptions options;
  options.source_end = false;
  SummedRows rows(kTableRows, kCols);
  Sums sums;
  for (std::uint64_t update = 0; update < updates; ++update) {
    const Drawn own = drawn(update, communicator().rank());
    Sentences source;
    if (!own.words.empty()) source.add(own.words);
    table.rows.clear();
    table.rows.add(own.words, {own.gradients.data(), own.words.size(), kCols});
    rows.begin_union(communicator(), table, source, {}, {}, options);
    rows.set(communicator(), table);
    communicator().begin_all_reduce(rows.rows());
    communicator().wait_for_all();
    std::set<WordId> united;
    for (int rank = 0; rank < communicator().size(); ++rank) {
      const Drawn theirs = drawn(update, rank);
      united.insert(theirs.words.begin(), theirs.words.end());
      for (std::size_t i = 0; i < theirs.gradients.size(); ++i)
        sums.expected[theirs.words[i / kCols] * kCols + i % kCols] += static_cast<double>(theirs.gradients[i]);
    }
    EXPECT_TRUE(std::equal(rows.words().begin(), rows.words().end(), united.begin(), united.end()));
    for (std::size_t i = 0; i < rows.rows().size(); ++i)
      sums.found[rows.words()[i / kCols] * kCols + i % kCols] += static_cast<double>(rows.rows()[i]);
  }
  return sums;
}

TEST(SummedRows, AreTheSumsOfTheWordsThatSomeRankUses) {
  const Sums sums = sums_of(10);
  for (std::size_t i = 0; i < sums.found.size(); ++i) EXPECT_NEAR(sums.found[i], sums.expected[i], 1e-4);
}

}  // namespace
}  // namespace rnnsearch::train

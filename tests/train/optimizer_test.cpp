#include "rnnsearch/train/optimizer.h"

#include "rnnsearch/base/parallel.h"
#include "tests/support/floats.h"
#include "tests/support/test.h"
#include "train/shard_sums.h"

namespace rnnsearch::train {
namespace {

constexpr std::size_t kSize = 40000;  // three blocks, the last one not full
constexpr double kScale = 0.25;

std::vector<float> make_gradient(std::uint64_t step) {
  Random random(3, step);
  std::vector<float> gradient(kSize);
  // Some elements are far larger than others, and some are 0, as in an embedding.
  for (std::size_t i = 0; i < kSize; ++i) {
    gradient[i] =
        i % 7 == 0 ? 0.0F : static_cast<float>(random.normal() * std::pow(10.0, static_cast<double>(i % 5) - 3));
  }
  return gradient;
}

const std::vector<float>& gradient_of_step(std::uint64_t step) {
  static std::vector<std::vector<float>> made;
  while (made.size() <= step) made.push_back(make_gradient(made.size()));
  return made[step];
}

std::vector<float> trained(const TrainOptions& options, int steps) {
  const auto optimizer = make_optimizer(options, kSize);
  std::vector<float> parameters(kSize, 0.5F);
  for (int step = 0; step < steps; ++step)
    optimizer->update(parameters, gradient_of_step(static_cast<std::uint64_t>(step)), options.learning_rate, kScale);
  return parameters;
}

TEST(Adadelta, FollowsItsFormulaInDoublePrecision) {
  TrainOptions options;
  const auto found = trained(options, 20);
  for (std::size_t i = 0; i < kSize; i += 11) {
    double p = 0.5, g2 = 0, d2 = 0;
    for (std::uint64_t step = 0; step < 20; ++step) {
      const double g = kScale * static_cast<double>(gradient_of_step(step)[i]);
      g2 = 0.95 * g2 + 0.05 * g * g;
      const double d = std::sqrt(d2 + 1e-6) / std::sqrt(g2 + 1e-6) * g;
      d2 = 0.95 * d2 + 0.05 * d * d;
      p -= d;
    }
    ASSERT_NEAR(found[i], p, 1e-6) << "element " << i;
    if (i > 300) i += 3000;
  }
}

TEST(Adam, FollowsItsFormulaInDoublePrecision) {
  TrainOptions options;
  options.optimizer = OptimizerKind::kAdam;
  options.learning_rate = 1e-2;
  const auto found = trained(options, 20);
  for (std::size_t i = 0; i < kSize; i += 11) {
    double p = 0.5, m = 0, v = 0;
    for (int step = 1; step <= 20; ++step) {
      const double g = kScale * static_cast<double>(gradient_of_step(static_cast<std::uint64_t>(step - 1))[i]);
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      p -= 1e-2 * (m / (1 - std::pow(0.9, step))) / (std::sqrt(v / (1 - std::pow(0.999, step))) + 1e-8);
    }
    ASSERT_NEAR(found[i], p, 2e-6) << "element " << i;
    if (i > 300) i += 3000;
  }
}

/// Plain, and with momentum.
TrainOptions gradient_descent(double momentum) {
  TrainOptions options;
  options.optimizer = OptimizerKind::kSgd;
  options.momentum = momentum;
  options.learning_rate = 0.03;
  return options;
}

TEST(GradientDescent, FollowsItsFormulaInDoublePrecision) {
  for (const double momentum : {0.0, 0.9}) {
    const auto found = trained(gradient_descent(momentum), 20);
    for (std::size_t i = 0; i < kSize; i += 11) {
      double p = 0.5, v = 0, moved = 0.5;
      for (std::uint64_t step = 0; step < 20; ++step) {
        v = momentum * v - 0.03 * kScale * static_cast<double>(gradient_of_step(step)[i]);
        p += v;
        moved += std::abs(v);
      }
      ASSERT_NEAR(found[i], p, 3e-6 * moved) << "element " << i << ", momentum " << momentum;
      if (i > 300) i += 3000;
    }
  }
}

TEST(GradientDescent, TakesTheLearningRateOfEachUpdate) {
  const auto optimizer = make_optimizer(gradient_descent(0.5), 1);
  std::vector<float> parameter{0};
  const std::vector<float> gradient{-1}, nothing{0};
  optimizer->update(parameter, gradient, 2, 1);  // v = 2
  EXPECT_EQ(parameter[0], 2);
  optimizer->update(parameter, gradient, 0.5, 1);  // v = 1 + 0.5
  EXPECT_EQ(parameter[0], 3.5);
  optimizer->update(parameter, nothing, 100, 1);  // v = 0.75
  EXPECT_EQ(parameter[0], 4.25);
}

TEST(GradientDescent, KeepsNothingWithoutMomentum) {
  EXPECT_TRUE(make_optimizer(gradient_descent(0), kSize)->accumulators().empty());
  const auto with = make_optimizer(gradient_descent(0.9), kSize)->accumulators();
  ASSERT_EQ(with.size(), 1u);
  EXPECT_EQ(with[0].name, "velocity");
  EXPECT_EQ(with[0].values.size(), kSize);
}

std::vector<TrainOptions> every_optimizer() {
  std::vector<TrainOptions> all(2);
  all[1].optimizer = OptimizerKind::kAdam;
  all.push_back(gradient_descent(0));
  all.push_back(gradient_descent(0.9));
  return all;
}

TEST(Optimizer, GivesTheSameBitsOnOneThreadAndOnFour) {
  for (const TrainOptions& options : every_optimizer()) {
    set_thread_count(1);
    const auto one = trained(options, 3);
    const double norm = squared_norm_of(one);
    set_thread_count(4);
    EXPECT_TRUE(trained(options, 3) == one) << name_of(options.optimizer);
    EXPECT_EQ(squared_norm_of(one), norm);
  }
}

// A table of 30 rows after 1,000 dense elements, of which an update touches some, never, or for thousands of updates
// not at all: by rows it must be the same, bit for bit, as written out with zeros.
TEST(Optimizer, OfATableByRowsHasTheBitsOfTheWholeGradient) {
  constexpr std::size_t kDense = 1000, kRows = 30, kCols = 70, kAll = kDense + kRows * kCols;
  for (const TrainOptions& options : every_optimizer()) {
    const auto whole = make_optimizer(options, kAll), by_rows = make_optimizer(options, kAll);
    std::vector<float> expected(kAll, 0.5F), found = expected;
    Random random(9);
    const auto check = [&](int update) {
      EXPECT_TRUE(found == expected) << name_of(options.optimizer) << ", update " << update;
      const auto a = whole->accumulators(), b = by_rows->accumulators();
      for (std::size_t i = 0; i < a.size(); ++i)
        EXPECT_TRUE(std::equal(a[i].values.begin(), a[i].values.end(), b[i].values.begin())) << a[i].name << update;
    };
    for (int update = 0; update < 5000; ++update) {
      std::vector<float> gradient(kAll), rows;
      for (std::size_t i = 0; i < kDense; ++i) gradient[i] = static_cast<float>(random.normal());
      std::vector<WordId> words;
      for (WordId row = 0; row < kRows; ++row) {
        // row 0 always, row 1 once, row 29 never, the others ever more rarely
        const bool touched = row == 0 || (row == 1 ? update == 3 : row < 29 && random.below(1u << row / 2) == 0);
        if (!touched) continue;
        words.push_back(row);
        for (std::size_t j = 0; j < kCols; ++j) {
          rows.push_back(static_cast<float>(random.normal() * std::pow(10.0, static_cast<double>(j % 9) - 6)));
          gradient[kDense + row * kCols + j] = rows.back();
        }
      }
      const TableGradient table{kDense, kRows, kCols, words, rows};
      whole->update(expected, gradient, 1, 0.5);
      by_rows->update(found, std::span(gradient).first(kDense), 1, 0.5, std::span(&table, 1));
      if (update == 1700) check(update);  // rows catch up here, and go on
    }
    check(5000);
  }
}

TEST(Norm, IsExactWhereFloatsWouldNotBe) {
  std::vector<float> many(1'000'003, 1e-3F);
  EXPECT_NEAR(squared_norm_of(many), 1e-6 * 1'000'003.0, 1e-6);
  EXPECT_EQ(squared_norm_of(std::vector<float>{3, 4}), 25.0);
  EXPECT_EQ(squared_norm_of({}), 0.0);
  EXPECT_TRUE(std::isfinite(squared_norm_of(std::vector<float>(1000, std::numeric_limits<float>::max()))));
}

TEST(Norm, IsNotFiniteWhenOneElementIsNot) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> gradient(50000, 1.0F);
    gradient[49999] = bad;
    EXPECT_FALSE(std::isfinite(squared_norm_of(gradient)));
  }
}

TEST(OptimizerBytes, CountWhatEachOptimizerReadsAndWrites) {
  TrainOptions options;  // Adadelta: gradient three times, parameter and two averages read and written
  EXPECT_EQ(optimizer_bytes(options, 10, 1000), 4 * (10 * 9 + 1000 * 4 / 16));
  options.optimizer = OptimizerKind::kAdam;
  EXPECT_EQ(optimizer_bytes(options, 10, 1000), 4 * (10 * 9 + 1000 * 6));
  options.optimizer = OptimizerKind::kSgd;
  EXPECT_EQ(optimizer_bytes(options, 10, 1000), 4 * 10 * 5);
  options.momentum = 0.9;
  EXPECT_EQ(optimizer_bytes(options, 10, 1000), 4 * (10 * 7 + 1000 * 4));
}

TEST(ParameterAverage, WeighsTheUpdatesAsItsRecursionSays) {
  for (const double decay : {0.05, 0.5, 0.9999}) {
    Random random(1);
    std::vector<float> parameters = normal_floats(random, kSize);
    ParameterAverage average(decay, kSize);
    average.begin(parameters);
    std::vector<double> expected(parameters.begin(), parameters.end());
    for (std::uint64_t update = 1; update <= 30; ++update) {
      parameters = normal_floats(random, kSize);
      average.follow(parameters, update);
      const double d = std::min(decay, static_cast<double>(update + 1) / static_cast<double>(update + 10));
      for (std::size_t i = 0; i < kSize; ++i) expected[i] = d * expected[i] + (1 - d) * double{parameters[i]};
    }
    for (std::size_t i = 0; i < kSize; ++i) ASSERT_NEAR(average.values()[i], expected[i], 4e-6) << i << " of " << decay;
  }
}

TEST(ParameterAverage, ExchangesEveryElement) {
  Random random(2);
  const std::vector<float> first = normal_floats(random, kSize), second = normal_floats(random, kSize);
  std::vector<float> parameters = second;
  ParameterAverage average(0.9, kSize);
  average.begin(first);
  average.exchange(parameters);
  EXPECT_EQ(parameters, first);
  EXPECT_TRUE(std::equal(second.begin(), second.end(), average.values().begin()));
  average.exchange(parameters);
  EXPECT_EQ(parameters, second);
}

TEST(ParameterAverage, HasTheSameBitsOnAnyNumberOfThreads) {
  std::vector<std::vector<float>> found;
  for (const std::size_t threads : {1u, 2u, 3u}) {
    set_thread_count(threads);
    Random random(3);
    ParameterAverage average(0.7, kSize);
    average.begin(normal_floats(random, kSize));
    for (std::uint64_t update = 1; update <= 5; ++update) average.follow(normal_floats(random, kSize), update);
    found.emplace_back(average.values().begin(), average.values().end());
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

TEST(ParameterAverage, OfDecayZeroIsNone) {
  ParameterAverage average(0, kSize);
  EXPECT_TRUE(average.empty());
  std::vector<float> parameters(kSize, 1.0F);
  average.begin(parameters);
  average.follow(parameters, 1);
  average.exchange(parameters);
  EXPECT_EQ(parameters, std::vector<float>(kSize, 1.0F));
}

constexpr std::size_t kShardSize = 17'000;  // two blocks of the parallel loop

std::vector<float> gradient_of(std::uint64_t shard) {
  Random random(3, shard);
  std::vector<float> values = normal_floats(random, kShardSize);
  values[0] = -0.0F;
  return values;
}

TEST(ShardSums, AreThoseOfTheNodesOfARankInAnyUpdateAndPart) {
  const auto same = [](std::span<const float> found, const std::vector<float>& expected, std::size_t first) {
    return std::memcmp(found.data(), expected.data() + first, found.size_bytes()) == 0;
  };
  for (const auto& [shards, ranks] : {std::pair{1, 1}, {2, 1}, {12, 1}, {12, 2}, {12, 3}, {12, 4}, {16, 2}, {7, 1}}) {
    for (int rank = 0; rank < ranks; ++rank) {
      SCOPED_TRACE(std::to_string(shards) + " shards, rank " + std::to_string(rank) + " of " + std::to_string(ranks));
      const ShardPlan plan(static_cast<std::uint64_t>(shards), rank, ranks);
      const comm::ShardTree tree(static_cast<std::uint64_t>(shards));
      const auto nodes = tree.nodes_of(plan.own());
      ShardSums sums;
      for (int update = 0; update < 2; ++update) {
        sums.begin(kShardSize);
        std::vector<float> gradient(kShardSize);
        for (std::size_t i = 0; i < plan.count(); ++i) {
          ASSERT_TRUE(std::all_of(gradient.begin(), gradient.end(), [](float g) { return g == 0; }));
          gradient = gradient_of(plan.own().first + i);
          if (i + 1 < plan.count()) sums.take(plan, i, gradient);
        }
        for (const auto& [first, size] :
             {std::pair{std::size_t{0}, kShardSize / 3}, {kShardSize / 3, kShardSize - kShardSize / 3}}) {
          const auto found = sums.finish(plan, first, std::span(gradient).subspan(first, size));
          ASSERT_EQ(found.size(), nodes.size());
          for (std::size_t n = 0; n < nodes.size(); ++n) {
            std::vector<std::vector<float>> of_node;
            for (std::uint64_t s = nodes[n].first; s < nodes[n].end; ++s) of_node.push_back(gradient_of(s));
            EXPECT_TRUE(same(found[n], sum_in_pairs(of_node), first)) << "node " << n;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace rnnsearch::train

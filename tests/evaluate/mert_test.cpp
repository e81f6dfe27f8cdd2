#include "rnnsearch/evaluate/mert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/random.h"

namespace rnnsearch::evaluate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

BleuStatistics random_statistics(Random& random) {
  BleuStatistics statistics;
  statistics.hypothesis_length = 4 + random.below(8);
  statistics.reference_length = 4 + random.below(8);
  std::uint64_t most = statistics.hypothesis_length;
  for (std::size_t n = 0; n < kBleuOrders; ++n) {
    statistics.total[n] = statistics.hypothesis_length - n;
    most = statistics.correct[n] = random.below(std::min(most, statistics.total[n]) + 1);
  }
  return statistics;
}

/// Features of small integers have lines that are parallel, equal, or meet in one point.
Candidates random_candidates(Random& random, std::size_t lines, std::size_t features, bool integers) {
  Candidates candidates(lines);
  for (auto& line : candidates) {
    line.resize(1 + random.below(8));
    for (Candidate& candidate : line) {
      candidate.statistics = random_statistics(random);
      for (std::size_t k = 0; k < features; ++k) {
        candidate.features.push_back(integers ? static_cast<double>(random.below(5)) - 2 : random.normal());
      }
    }
  }
  return candidates;
}

/// The reference: the statistics of each line's best hypothesis, the first of several, at one gamma. `margin`: by how
/// much the best one is better than any other that is not equal at every gamma.
BleuStatistics best_at(const Candidates& candidates, const std::vector<double>& weights,
                       const std::vector<double>& direction, double gamma, double& margin) {
  BleuStatistics sum;
  margin = kInfinity;
  for (const auto& line : candidates) {
    std::vector<double> scores;
    for (const Candidate& candidate : line) {
      double score = 0;
      for (std::size_t k = 0; k < weights.size(); ++k) {
        score += (weights[k] + gamma * direction[k]) * candidate.features[k];
      }
      scores.push_back(score);
    }
    std::size_t best = 0;
    for (std::size_t k = 1; k < line.size(); ++k) best = scores[k] > scores[best] ? k : best;
    for (std::size_t k = 0; k < line.size(); ++k) {
      if (line[k].features != line[best].features) margin = std::min(margin, scores[best] - scores[k]);
    }
    sum += line[best].statistics;
  }
  return sum;
}

TEST(StepsAlong, HaveTheStatisticsOfBruteForceOnAFineGrid) {
  Random random(3);
  std::size_t compared = 0, changes = 0;
  for (std::size_t round = 0; round < 60; ++round) {
    const bool integers = round % 3 == 0;
    const Candidates candidates = random_candidates(random, 1 + random.below(6), 3, integers);
    std::vector<double> weights, direction;
    for (std::size_t k = 0; k < 3; ++k) {
      weights.push_back(integers ? static_cast<double>(random.below(3)) - 1 : random.normal());
      direction.push_back(integers ? static_cast<double>(random.below(3)) - 1 : random.normal());
    }
    const std::vector<Step> steps = steps_along(candidates, weights, direction);
    ASSERT_EQ(steps.front().from, -kInfinity);
    for (std::size_t i = 1; i < steps.size(); ++i) ASSERT_LT(steps[i - 1].from, steps[i].from);
    changes += steps.size() - 1;
    std::size_t step = 0;
    for (int i = -4000; i <= 4000; ++i) {
      const double gamma = 0.0025 * i + 0.0007;  // not where integers tie
      while (step + 1 < steps.size() && steps[step + 1].from < gamma) ++step;
      double margin = 0;
      const BleuStatistics expected = best_at(candidates, weights, direction, gamma, margin);
      if (margin < 1e-9) continue;  // rounding decides
      ++compared;
      ASSERT_EQ(steps[step].statistics, expected) << "round " << round << ", gamma " << gamma;
    }
  }
  EXPECT_GT(compared, 400000U);
  EXPECT_GT(changes, 200U);
}

TEST(StepsAlong, ReachBeyondAnyGrid) {
  Candidates candidates(1);
  candidates[0] = {{{0, 1}, {}}, {{1e-6, 0}, {}}, {{-1, -1e6}, {}}};
  for (std::size_t k = 0; k < 3; ++k) candidates[0][k].statistics.hypothesis_length = k;
  const auto steps = steps_along(candidates, std::vector<double>{0, 1}, std::vector<double>{1, 0});
  ASSERT_EQ(steps.size(), 3U);  // -1e6 - gamma, 1, 1e-6 gamma
  EXPECT_EQ(steps[0].statistics.hypothesis_length, 2U);
  EXPECT_DOUBLE_EQ(steps[1].from, -1e6 - 1);
  EXPECT_EQ(steps[1].statistics.hypothesis_length, 0U);
  EXPECT_DOUBLE_EQ(steps[2].from, 1e6);
  EXPECT_EQ(steps[2].statistics.hypothesis_length, 1U);
}

MertOptions few() {
  MertOptions options;
  options.restarts = 3;
  options.random_directions = 3;
  return options;
}

TEST(Mert, NeverEndsBelowItsStartAndReportsWhatItsWeightsChoose) {
  Random random(5);
  std::size_t better = 0;
  for (std::size_t round = 0; round < 12; ++round) {
    const Candidates candidates = random_candidates(random, 20, 4, round % 2 == 0);
    std::vector<double> start;
    for (std::size_t k = 0; k < 4; ++k) start.push_back(random.normal());
    const MertResult result = tune(candidates, start, few());
    EXPECT_EQ(result.start_bleu, bleu_of(statistics_of_best(candidates, start), {}).score);
    EXPECT_EQ(result.bleu, bleu_of(statistics_of_best(candidates, result.weights), {}).score);
    EXPECT_GE(result.bleu, result.start_bleu);
    better += result.bleu > result.start_bleu ? 1 : 0;
  }
  EXPECT_EQ(better, 12U);
}

TEST(Mert, FindsTheFeatureThatAloneGivesTheReferences) {
  Random random(7);
  Candidates candidates = random_candidates(random, 50, 5, false);
  for (auto& line : candidates) {
    line.resize(6, line.front());
    const std::size_t right = random.below(6);
    for (std::size_t k = 0; k < 6; ++k) {
      // In units of its own: those of the others are a million times larger.
      line[k].features[3] = 1e-6 * (k == right ? 1 + 0.01 * random.uniform() : random.uniform() * 0.9);
      if (k != right) continue;
      BleuStatistics& statistics = line[k].statistics;
      statistics.reference_length = statistics.hypothesis_length = 9;
      for (std::size_t n = 0; n < kBleuOrders; ++n) statistics.correct[n] = statistics.total[n] = 9 - n;
    }
  }
  const MertResult result = tune(candidates, std::vector<double>{1, 0, 0, 0, 0}, few());
  EXPECT_LT(result.start_bleu, 50);
  EXPECT_NEAR(result.bleu, 100, 1e-9);
  EXPECT_GT(result.weights[3], 0);
}

TEST(Mert, LeavesAFeatureAloneThatDecidesNothing) {
  Random random(9);
  Candidates candidates = random_candidates(random, 20, 3, false);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    for (Candidate& candidate : candidates[i]) candidate.features[1] = static_cast<double>(i);
  }
  EXPECT_EQ(tune(candidates, std::vector<double>{1, 0, 0}, few()).weights[1], 0);
}

TEST(Mert, GivesTheSameBitsOnAnyNumberOfThreads) {
  Random random(11);
  const Candidates candidates = random_candidates(random, 300, 4, false);
  const std::vector<double> start{1, 0, 0, 0};
  const std::size_t threads = thread_count();
  set_thread_count(1);
  const MertResult one = tune(candidates, start, few());
  set_thread_count(3);
  const MertResult three = tune(candidates, start, few());
  set_thread_count(threads);
  EXPECT_EQ(one.weights, three.weights);
  EXPECT_EQ(one.line_searches, three.line_searches);
  MertOptions other = few();
  other.seed = 1;
  EXPECT_NE(tune(candidates, start, other).weights, one.weights);
}

}  // namespace
}  // namespace rnnsearch::evaluate

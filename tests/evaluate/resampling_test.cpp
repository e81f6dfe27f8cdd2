#include "evaluate/resampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "rnnsearch/base/portable.h"
#include "rnnsearch/evaluate/metrics.h"

namespace rnnsearch::evaluate {
namespace {

std::vector<BleuStatistics> sentences(std::size_t count, std::uint64_t seed) {
  std::vector<BleuStatistics> sentences(count);
  Random random(seed);
  for (BleuStatistics& sentence : sentences) {
    const std::uint64_t length = random.below(30);
    for (std::size_t n = 0; n < kBleuOrders; ++n) {
      sentence.total[n] = length > n ? length - n : 0;
      sentence.correct[n] = random.below(sentence.total[n] + 1);
    }
    sentence.hypothesis_length = length;
    sentence.reference_length = random.below(30);
  }
  return sentences;
}

std::vector<ChrfStatistics> chrf_sentences(std::size_t count, std::uint64_t seed) {
  std::vector<ChrfStatistics> sentences(count);
  Random random(seed);
  for (ChrfStatistics& sentence : sentences) {
    for (auto& order : sentence.orders) {
      order.hypothesis = random.below(100);
      order.reference = random.below(100);
      order.correct = random.below(std::min(order.hypothesis, order.reference) + 1);
    }
  }
  return sentences;
}

Counts counts(const std::vector<BleuStatistics>& sentences) {
  const auto score = [](const BleuStatistics& sum) { return bleu_of(sum, {}).score; };
  return with_metric<BleuStatistics>(counts_of(sentences), "BLEU", score);
}
Counts counts(const std::vector<ChrfStatistics>& sentences, const ChrfOptions& options) {
  const auto score = [options](const ChrfStatistics& sum) { return chrf_of(sum, options); };
  return with_metric<ChrfStatistics>(counts_of(sentences), "chrF", score, 3 * (kCharacterOrders + options.word_orders));
}

std::vector<std::size_t> every_third(std::size_t count) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; i += 3) chosen.push_back(i);
  return chosen;
}

// The score of sums, for one metric or the other.
double score(const BleuStatistics& sum) {
  return bleu_of(sum, {}).score;
}
double score(const ChrfStatistics& sum) {
  return chrf_of(sum, {.word_orders = 2});
}

template <class Statistics>
std::vector<double> slow_bootstrap(const std::vector<Statistics>& all, const std::vector<std::size_t>& chosen,
                                   std::size_t samples, std::uint64_t seed,
                                   double (*score_of)(const Statistics&) = score) {
  std::vector<double> scores;
  for (std::size_t s = 0; s < samples; ++s) {
    Random random(seed, s);
    Statistics sum;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const long double fraction = static_cast<long double>(random.next()) / 18446744073709551616.0L;
      sum += all[chosen[static_cast<std::size_t>(fraction * static_cast<long double>(chosen.size()))]];
    }
    scores.push_back(score_of(sum));
  }
  return scores;
}

template <class Statistics>
std::vector<double> slow_randomization(const std::vector<Statistics>& a, const std::vector<Statistics>& b,
                                       const std::vector<std::size_t>& chosen, std::size_t trials, std::uint64_t seed,
                                       double (*score_of)(const Statistics&) = score) {
  std::vector<double> differences;
  for (std::size_t t = 0; t < trials; ++t) {
    Random random(seed, t);
    std::uint64_t bits = 0;
    Statistics one, other;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      bits = i % 64 == 0 ? random.next() : bits >> 1;
      const bool change = bits & 1;
      one += (change ? b : a)[chosen[i]];
      other += (change ? a : b)[chosen[i]];
    }
    differences.push_back(std::abs(score_of(one) - score_of(other)));
  }
  return differences;
}

TEST(BootstrapScores, AreThoseOfTheSentencesDrawn) {
  const auto a = sentences(500, 1), b = sentences(500, 2);
  const auto c = chrf_sentences(500, 3);
  const Counts tables[] = {counts(a), counts(b), counts(c, {.word_orders = 2})};
  const Counts* pointers[] = {&tables[0], &tables[1], &tables[2]};
  const auto chosen = every_third(500);
  const auto scores = bootstrap_scores(pointers, chosen, 40, 7);
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_EQ(scores[0], slow_bootstrap(a, chosen, 40, 7));
  EXPECT_EQ(scores[1], slow_bootstrap(b, chosen, 40, 7));
  EXPECT_EQ(scores[2], slow_bootstrap(c, chosen, 40, 7));
}

TEST(RandomizedDifferences, AreThoseOfTheSentencesThatChangeSides) {
  // Numbers of sentences around the 8 and the 64 that are taken together, and of trials around the piece of a thread.
  for (const std::size_t count : {1u, 7u, 8u, 9u, 63u, 64u, 65u, 200u}) {
    const auto a = sentences(count, 11), b = sentences(count, 12);
    const auto c = chrf_sentences(count, 13), d = chrf_sentences(count, 14);
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_EQ(randomized_differences(counts(a), counts(b), all, 501, 5), slow_randomization(a, b, all, 501, 5));
    EXPECT_EQ(randomized_differences(counts(c, {.word_orders = 2}), counts(d, {.word_orders = 2}), all, 30, 5),
              slow_randomization(c, d, all, 30, 5));
  }
  const auto a = sentences(300, 15), b = sentences(300, 16);
  EXPECT_EQ(randomized_differences(counts(a), counts(b), every_third(300), 60, 5),
            slow_randomization(a, b, every_third(300), 60, 5));
}

TEST(Resampling, TakesRowsOfAnyWidth) {
  const auto a = chrf_sentences(100, 41), b = chrf_sentences(100, 42);
  const auto chosen = every_third(100);
  const auto check = [&](const ChrfOptions& options, double (*score_of)(const ChrfStatistics&)) {
    const Counts of_a = counts(a, options), of_b = counts(b, options);
    EXPECT_EQ(bootstrap_scores(std::vector{&of_a}, chosen, 20, 9).front(), slow_bootstrap(a, chosen, 20, 9, score_of));
    EXPECT_EQ(randomized_differences(of_a, of_b, chosen, 20, 9), slow_randomization(a, b, chosen, 20, 9, score_of));
  };
  check({}, [](const ChrfStatistics& sum) { return chrf_of(sum, {}); });
  check({.word_orders = 1}, [](const ChrfStatistics& sum) { return chrf_of(sum, {.word_orders = 1}); });
}

TEST(ScoreOf, IsTheScoreOfTheChosenSentences) {
  const auto a = sentences(100, 31);
  BleuStatistics sum;
  for (const std::size_t i : every_third(100)) sum += a[i];
  EXPECT_EQ(score_of(counts(a), every_third(100)), bleu_of(sum, {}).score);
}

}  // namespace
}  // namespace rnnsearch::evaluate

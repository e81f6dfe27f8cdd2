#include "rnnsearch/evaluate/evaluation.h"

#include "evaluate/resampling.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/evaluate/metrics.h"
#include "tests/support/test.h"

namespace rnnsearch::evaluate {
namespace {

using Lines = std::vector<std::string>;

// Sentences of a few words, and copies of them with errors.
struct Texts {
  std::mt19937 random;
  Lines reference;

  explicit Texts(std::size_t sentences, unsigned seed) : random(seed) {
    for (std::size_t i = 0; i < sentences; ++i) {
      std::string line;
      for (auto words = 5 + random() % 15; words > 0; --words)
        line += static_cast<char>('a' + random() % 20), line += ' ';
      reference.push_back(line);
    }
  }
  Lines with_errors(unsigned percent) {
    Lines lines = reference;
    for (std::string& line : lines)
      for (std::size_t i = 0; i < line.size(); i += 2)
        if (random() % 100 < percent) line[i] = '?';
    return lines;
  }
};

Comparison compared(const Lines& reference, const Lines& baseline, const Lines& system,
                    const SignificanceOptions& significance, bool chrf = false) {
  EvaluationOptions options;
  options.significance = significance;
  options.bootstrap.samples = 0;
  options.chrf = chrf;
  const std::vector<Lines> references{reference};
  const SystemOutput systems[] = {{"baseline", baseline}, {"system", system}};
  TestSet test;
  test.references = references;
  const Evaluation evaluation = evaluate(test, systems, options);
  const std::string metric = chrf ? "chrF" : "BLEU";
  for (const Comparison& comparison : evaluation.comparisons)
    if (comparison.row == "all" && comparison.metric == metric) return comparison;
  throw Error("no comparison");
}

double score(const Lines& hypotheses, const Lines& reference) {
  const std::vector<Lines> references{reference};
  return corpus_bleu(hypotheses, references, {}).score;
}

// As far as a Monte Carlo estimate of n samples lies from p in one case of 15,000.
double tolerance(double p, std::size_t samples) {
  return 4 * std::sqrt(p * (1 - p) / static_cast<double>(samples)) + 1.0 / static_cast<double>(samples);
}

TEST(PValue, CountsTheValuesThatReachTheDifference) {
  const double values[] = {0, 1, 2, 3};
  EXPECT_EQ(p_value(values, 4), 1.0 / 5);
  EXPECT_EQ(p_value(values, 3), 2.0 / 5);
  EXPECT_EQ(p_value(values, -1.5), 3.0 / 5) << "two-sided";
  EXPECT_EQ(p_value(values, 0), 1);
}

TEST(PairedBootstrapP, CentersTheDifferences) {
  EXPECT_EQ((SignificanceOptions{SignificanceTest::kBootstrap, {}}.sample_count()), 1000u);
  // |differences| 1 2 3 6, their mean 3: -2 -1 0 3.
  const double baseline[] = {10, 10, 10, 10}, system[] = {11, 8, 13, 16};
  EXPECT_EQ(paired_bootstrap_p(baseline, system, 2.5), 2.0 / 5);
  EXPECT_EQ(paired_bootstrap_p(baseline, system, -3), 2.0 / 5);
  EXPECT_EQ(paired_bootstrap_p(baseline, system, 3.5), 1.0 / 5);
}

TEST(Randomization, IsThatOfAllExchanges) {
  Texts texts(11, 1);
  const Lines a = texts.with_errors(30), b = texts.with_errors(24);
  const double observed = std::abs(score(a, texts.reference) - score(b, texts.reference));
  ASSERT_GT(observed, 0);
  double reached = 0, all = 0;
  for (unsigned exchange = 0; exchange < 1U << 11; ++exchange) {
    Lines one = a, other = b;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (exchange >> i & 1) std::swap(one[i], other[i]);
    reached += std::abs(score(one, texts.reference) - score(other, texts.reference)) >= observed;
    ++all;
  }
  const double exact = reached / all;
  ASSERT_GT(exact, 0.02);
  ASSERT_LT(exact, 0.98);
  const Comparison comparison = compared(texts.reference, a, b, {SignificanceTest::kRandomization, {}});
  EXPECT_EQ(comparison.samples, 10000u);
  EXPECT_NEAR(comparison.p.value(), exact, tolerance(exact, comparison.samples));
  EXPECT_NEAR(comparison.difference, score(b, texts.reference) - score(a, texts.reference), 1e-12);
}

TEST(Significance, IsNotFoundBetweenASystemAndItsCopy) {
  Texts texts(50, 3);
  const Lines a = texts.with_errors(30);
  for (const auto test : {SignificanceTest::kBootstrap, SignificanceTest::kRandomization}) {
    for (const bool chrf : {false, true}) {
      EXPECT_EQ(compared(texts.reference, a, a, {test, {}}, chrf).p, 1);
    }
  }
  Lines b = a;
  b[7] = texts.reference[7];  // one sentence alone proves nothing: exchanged or not, the difference is the same
  EXPECT_EQ(compared(texts.reference, a, b, {SignificanceTest::kRandomization, {}}).p, 1);
}

TEST(Significance, IsFoundWhereOneSystemIsMuchBetterAndInBothDirections) {
  Texts texts(200, 4);
  const Lines a = texts.with_errors(30), b = texts.with_errors(10);
  for (const auto test : {SignificanceTest::kBootstrap, SignificanceTest::kRandomization}) {
    for (const bool chrf : {false, true}) {
      const Comparison better = compared(texts.reference, a, b, {test, 500}, chrf);
      const Comparison worse = compared(texts.reference, b, a, {test, 500}, chrf);
      EXPECT_EQ(better.p, 1.0 / 501);
      EXPECT_TRUE(better.significant());
      EXPECT_GT(better.difference, 0);
      EXPECT_EQ(worse.p, better.p);
      EXPECT_EQ(worse.difference, -better.difference);
    }
  }
}

TEST(StudentT, IsThatOfTheTables) {
  EXPECT_NEAR(student_t(0.95, 1), 12.706, 1e-3);
  EXPECT_NEAR(student_t(0.95, 2), 4.303, 1e-3);
  EXPECT_NEAR(student_t(0.95, 3), 3.182, 1e-3);
  EXPECT_NEAR(student_t(0.95, 9), 2.262, 1e-3);
  EXPECT_NEAR(student_t(0.99, 10), 3.169, 1e-3);
  EXPECT_NEAR(student_t(0.50, 5), 0.727, 1e-3);
  EXPECT_NEAR(student_t(0.95, 100000), 1.960, 1e-3);
}

TEST(MeanOverRounds, HasTheIntervalOfStudent) {
  const std::vector<double> scores{2, 4, 4, 6};
  const RoundMean mean = mean_over_rounds(scores);
  EXPECT_EQ(mean.rounds, 4u);
  EXPECT_NEAR(mean.mean, 4, 1e-12);
  EXPECT_EQ(mean.least, 2);
  EXPECT_EQ(mean.most, 6);
  EXPECT_NEAR(mean.half_width, 3.1824 * std::sqrt(8. / 3 / 4), 1e-3);
}

TEST(MeanOverRounds, KnowsNothingOfASingleRoundsSpread) {
  const std::vector<double> one{7};
  EXPECT_EQ(mean_over_rounds(one).mean, 7);
  EXPECT_TRUE(std::isinf(mean_over_rounds(one).half_width));
  const std::vector<double> alike(10, 100.0);
  EXPECT_EQ(mean_over_rounds(alike).half_width, 0);
}

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
double score(const BleuStatistics& sum) { return bleu_of(sum, {}).score; }
double score(const ChrfStatistics& sum) { return chrf_of(sum, {.word_orders = 2}); }

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

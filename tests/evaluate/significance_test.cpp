#include "evaluate/resampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "rnnsearch/base/error.h"

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
    for (std::string& line : lines) {
      for (std::size_t i = 0; i < line.size(); i += 2) {
        if (random() % 100 < percent) line[i] = '?';
      }
    }
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
  for (const Comparison& comparison : evaluation.comparisons) {
    if (comparison.row == "all" && comparison.metric == metric) return comparison;
  }
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
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (exchange >> i & 1) std::swap(one[i], other[i]);
    }
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

}  // namespace
}  // namespace rnnsearch::evaluate

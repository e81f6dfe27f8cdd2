#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "tests/model/fixtures.h"
#include "tests/support/whole_gradient.h"

namespace rnnsearch::model {
namespace {

constexpr double kTolerance = sizeof(Real) == 4 ? 1e-5 : 1e-10;  // relative

void expect_reference(Model& model, const Sentences& source, const Sentences& target) {
  const reference::Parameters parameters = named(model);
  double sum = 0;
  const std::vector<double> scores = model.score(source, target);
  ASSERT_EQ(scores.size(), source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const double expected =
        reference::trace(parameters, state_reads(model.options()), source[i], target[i]).log_probability();
    EXPECT_NEAR(scores[i], expected, kTolerance * std::abs(expected)) << "sentence " << i;
    sum -= expected;
  }
  const Loss loss = model.loss(source, target);
  EXPECT_NEAR(loss.negative_log_likelihood, sum, kTolerance * sum);
  EXPECT_EQ(loss.words, target.words.size() + target.size());
}

class ModelForward : public testing::TestWithParam<Variant> {};

TEST_P(ModelForward, AgreesWithTheEquations) {
  Model model(GetParam().options);
  fill(model, 13);
  Random random(14);
  expect_reference(model, random_sentences(random, 9, 20, 50), random_sentences(random, 9, 20, 51));
}

INSTANTIATE_TEST_SUITE_P(Every, ModelForward, testing::ValuesIn(variants(widths(50, 17, 22, 13, 9), 7)),
                         [](const auto& chosen) { return chosen.param.name; });

#ifndef RNNSEARCH_DOUBLE
/// Widths odd, even, of whole vectors and just past them; batches of 1 to 17 sentences of 0 to 40 words.
TEST(ModelForwardShapes, AgreeWithTheEquationsAtAnyWidthAndBatch) {
  const std::vector<ModelOptions> all = {widths(50, 5, 5, 5, 5),     widths(50, 16, 16, 16, 16),
                                         widths(50, 64, 70, 33, 31), widths(50, 7, 32, 64, 17),
                                         widths(50, 70, 6, 48, 64),  widths(50, 31, 65, 8, 1)};
  Random random(21);
  for (ModelOptions options : all) {
    for (const Attention attention : {Attention::kAdditive, Attention::kNone}) {
      options.attention = attention;
      options.readout_rank = attention == Attention::kNone ? 0 : options.embedding;
      Model model(options);
      fill(model, random.next());
      for (const std::size_t count : {1u, 2u, 3u, 17u}) {
        SCOPED_TRACE(testing::Message() << "m " << options.embedding << ", n " << options.state << ", " << count
                                        << " sentences, " << name_of(attention));
        expect_reference(model, random_sentences(random, count, 40, 50), random_sentences(random, count, 40, 51));
      }
    }
  }
}

TEST(ModelForwardShapes, GiveNoPairsNoLoss) {
  Model model(widths(50, 9, 12, 10, 7));
  fill(model, 33);
  const Loss loss = model.loss({}, {});
  EXPECT_EQ(loss.negative_log_likelihood, 0);
  EXPECT_EQ(loss.words, 0u);
  EXPECT_TRUE(model.score({}, {}).empty());
}
#endif

/// Sigma, tanh and both softmaxes at the ends of their range.
TEST(ModelForwardValues, StayFiniteAndRightWithHugeWeights) {
  Model model(widths(50, 9, 12, 10, 7));
  fill(model, 34);
  for (Real& weight : model.parameters()) weight *= 60;
  Random random(35);
  const Sentences source = random_sentences(random, 7, 15, 50), target = random_sentences(random, 7, 15, 51);
  if (sizeof(Real) == 8) expect_reference(model, source, target);
  EXPECT_TRUE(std::isfinite(model.accumulate_gradient(source, target).negative_log_likelihood));
  for (const Real value : whole_gradient(model)) ASSERT_TRUE(std::isfinite(value));
}

/// alpha of every target word over every source word, and the probability with it.
void expect_reference_alignment(Model& model, const Sentences& source, const Sentences& target) {
  const reference::Parameters parameters = named(model);
  const auto alignments = model.align(source, target);
  const std::vector<double> scores = model.score(source, target);
  ASSERT_EQ(alignments.size(), source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t Tx = source.length(i) + 1, Ty = target.length(i) + 1;
    const auto expected = reference::trace(parameters, state_reads(model.options()), source[i], target[i]);
    EXPECT_EQ(alignments[i].log_probability, scores[i]);
    ASSERT_EQ(alignments[i].alpha.size(), Ty * Tx) << "sentence " << i;
    for (std::size_t k = 0; k < Ty; ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < Tx; ++j) {
        const double alpha = static_cast<double>(alignments[i].alpha[k * Tx + j]);
        EXPECT_NEAR(alpha, expected.alpha[k][j], kTolerance) << "sentence " << i << ", " << k << " to " << j;
        sum += alpha;
      }
      EXPECT_NEAR(sum, 1, kTolerance);
    }
  }
}

TEST(ModelAlign, AgreesWithTheEquationsInRaggedBatches) {
  Model model(widths(50, 9, 12, 10, 7));
  fill(model, 43);
  Random random(44);
  Sentences source, target;
  for (const auto& [x, y] : std::vector<std::pair<std::size_t, std::size_t>>{
           {3, 20}, {0, 0}, {40, 1}, {0, 9}, {9, 0}, {40, 40}, {1, 1}, {17, 23}, {40, 0}, {0, 40}, {1, 40}, {0, 1}}) {
    source.add(random_sentence(random, x, 50));
    target.add(random_sentence(random, y, 51));
  }
  expect_reference(model, source, target);
  expect_reference_alignment(model, source, target);
  for (std::size_t i = 0; i < source.size(); ++i) {
    Sentences one_source, one_target;
    one_source.add(source[i]);
    one_target.add(target[i]);
    expect_reference_alignment(model, one_source, one_target);
  }
}

#ifndef RNNSEARCH_DOUBLE
TEST(ModelAlign, HasNoAlphaWithoutAttentionAndNothingForNoPairs) {
  ModelOptions options = widths(50, 9, 12, 10, 7);
  EXPECT_TRUE(Model(options).align({}, {}).empty());
  options.attention = Attention::kNone;
  Model model(options);
  fill(model, 45);
  Random random(46);
  const Sentences source = random_sentences(random, 4, 9, 50), target = random_sentences(random, 4, 9, 51);
  const auto alignments = model.align(source, target);
  const std::vector<double> scores = model.score(source, target);
  ASSERT_EQ(alignments.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(alignments[i].alpha.empty());
    EXPECT_EQ(alignments[i].log_probability, scores[i]);
  }
}

// Counted from the sentences: the fast decoder and the encoder multiply an embedding once for all its places, unless
// each place is dropped for itself.
TEST(ModelBatch, TellsHowMuchItMultiplied) {
  Random random(53);
  const Sentences source = random_sentences(random, 12, 15, 50), target = random_sentences(random, 12, 15, 51);
  const auto words = [](const Sentences& sentences) {
    std::vector<WordId> all(sentences.size(), kEnd);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      all.insert(all.end(), sentences[i].begin(), sentences[i].end());
    }
    return all;
  };
  const auto distinct = [](const std::vector<WordId>& all) { return std::set(all.begin(), all.end()).size(); };
  const std::vector<WordId> sources = words(source), targets = words(target);
  ASSERT_LT(distinct(sources), sources.size());
  ASSERT_LT(distinct(targets), targets.size());
  const auto expect = [&](const ModelOptions& options, std::size_t of_sources, std::size_t of_targets) {
    Model model(options);
    fill(model, 54);
    model.accumulate_gradient(source, target);
    const BatchSize batch = model.last_batch();
    EXPECT_EQ(batch.pairs, 12);
    EXPECT_EQ(batch.source_words, sources.size() + (options.source_start ? 12 : 0));
    EXPECT_EQ(batch.target_words, targets.size());
    EXPECT_EQ(batch.source_embeddings, of_sources);
    EXPECT_EQ(batch.target_embeddings, of_targets);
    model.accumulate_gradient({}, {});
    EXPECT_EQ(model.last_batch().source_words + model.last_batch().target_embeddings, 0);
  };
  ModelOptions options = widths(50, 9, 12, 10, 7);
  expect(options, distinct(sources), distinct(targets));
  ModelOptions started = options;  // with a start symbol
  started.layers = 2;
  started.attention = Attention::kNone;
  started.source_start = true;
  std::vector<WordId> with_start = sources;
  with_start.push_back(kStart);
  expect(started, distinct(with_start), distinct(targets));
  ModelOptions dropping = options;
  dropping.dropout = 0.5;
  expect(dropping, sources.size(), targets.size());
}
#endif

#ifdef RNNSEARCH_DOUBLE
/// Loss and gradient: a batch is the sum of its sentences, and the gradient is added to what is there.
TEST(ModelBatch, EqualsItsSentencesOneByOne) {
  for (const Attention attention : {Attention::kAdditive, Attention::kNone}) {
    ModelOptions options = widths(50, 9, 12, 10, 7);
    options.attention = attention;
    Model together(options), apart(options);
    fill(together, 51);
    fill(apart, 51);
    Random random(52);
    const Sentences source = random_sentences(random, 12, 15, 50), target = random_sentences(random, 12, 15, 51);
    const Loss loss = together.accumulate_gradient(source, target);
    Loss sum;
    for (std::size_t i = 0; i < source.size(); ++i) {
      Sentences one_source, one_target;
      one_source.add(source[i]);
      one_target.add(target[i]);
      const Loss one = apart.accumulate_gradient(one_source, one_target);
      EXPECT_NEAR(one.negative_log_likelihood, -together.score(source, target)[i], 1e-11);
      sum.negative_log_likelihood += one.negative_log_likelihood;
      sum.words += one.words;
    }
    EXPECT_NEAR(loss.negative_log_likelihood, sum.negative_log_likelihood, 1e-10);
    EXPECT_EQ(loss.words, sum.words);
    const auto found = whole_gradient(together), expected = whole_gradient(apart);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], 1e-11 * (1 + std::abs(expected[i])));
    }
    apart.zero_gradient();
    EXPECT_EQ(apart.accumulate_gradient({}, {}).words, 0u);
    for (const double g : whole_gradient(apart)) EXPECT_EQ(g, 0);
  }
}
#endif

/// Memory is kept from batch to batch. A batch that was not a number must not reach the next one through rows that
/// nobody wrote since, not even multiplied by 0.
TEST_P(ModelForward, LeavesNothingOfABatchForTheNext) {
  const ModelOptions& options = GetParam().options;
  Model used(options), fresh(options);
  fill(used, 61);
  fill(fresh, 61);
  Random random(62);
  const Sentences source = random_sentences(random, 12, 15, 50), target = random_sentences(random, 12, 15, 51);
  const Sentences larger_source = random_sentences(random, 30, 20, 50),
                  larger_target = random_sentences(random, 30, 20, 51);
  const std::vector<Real> kept(used.parameters().begin(), used.parameters().end());
  std::fill(used.parameters().begin(), used.parameters().end(), std::numeric_limits<Real>::quiet_NaN());
  EXPECT_TRUE(std::isnan(used.accumulate_gradient(larger_source, larger_target).negative_log_likelihood));
  std::copy(kept.begin(), kept.end(), used.parameters().begin());
  used.zero_gradient();

  EXPECT_EQ(used.accumulate_gradient(source, target).negative_log_likelihood,
            fresh.accumulate_gradient(source, target).negative_log_likelihood);
  EXPECT_EQ(whole_gradient(used), whole_gradient(fresh));
  EXPECT_EQ(used.score(source, target), fresh.score(source, target));
}

}  // namespace
}  // namespace rnnsearch::model

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/kernels/precision.h"
#include "tests/model/systems.h"
#include "tests/support/test.h"
#include "tests/support/whole_gradient.h"

namespace rnnsearch::model {
namespace {

/// Score, loss, and alpha of every target word over every source word.
void expect_reference(Model& model, const Sentences& source, const Sentences& target) {
  constexpr double kTolerance = sizeof(Real) == 4 ? 1e-5 : 1e-10;  // relative
  const reference::Parameters parameters = named(model);
  double sum = 0;
  const auto alignments = model.align(source, target);
  const std::vector<double> scores = model.score(source, target);
  ASSERT_EQ(scores.size(), source.size());
  ASSERT_EQ(alignments.size(), source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto expected = systems::System(parameters, model.options())
                              .run({source[i].begin(), source[i].end()}, {target[i].begin(), target[i].end()});
    const double wanted = expected.log_probability();
    EXPECT_NEAR(scores[i], wanted, kTolerance * std::abs(wanted)) << "sentence " << i;
    EXPECT_EQ(alignments[i].log_probability, scores[i]);
    sum -= wanted;
    const std::size_t Tx = source.length(i) + 1, Ty = target.length(i) + 1;
    ASSERT_EQ(alignments[i].alpha.size(), model.options().attends() ? Ty * Tx : 0) << "sentence " << i;
    for (std::size_t k = 0; k < alignments[i].alpha.size(); ++k)
      EXPECT_NEAR(alignments[i].alpha[k], expected.alpha[k / Tx][k % Tx], kTolerance) << "sentence " << i << ", " << k;
  }
  const Loss loss = model.loss(source, target);
  EXPECT_NEAR(loss.negative_log_likelihood, sum, kTolerance * sum);
  EXPECT_EQ(loss.words, target.words.size() + target.size());
}

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
  EXPECT_TRUE(model.score({}, {}).empty() && model.align({}, {}).empty());
}

// Counted from the sentences: the fast decoder and the encoder multiply an embedding once for all its places, unless
// each place is dropped for itself.
TEST(ModelBatch, TellsHowMuchItMultiplied) {
  Random random(53);
  const Sentences source = random_sentences(random, 12, 15, 50), target = random_sentences(random, 12, 15, 51);
  const auto words = [](const Sentences& sentences) {
    std::vector<WordId> all(sentences.size(), kEnd);
    for (std::size_t i = 0; i < sentences.size(); ++i) all.insert(all.end(), sentences[i].begin(), sentences[i].end());
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
TEST(Threads, DoNotChangeABitOfTheGradient) {
  for (const Attention attention : {Attention::kAdditive, Attention::kNone}) {
    ModelOptions options = widths(2000, 64, 96, 80, 48);
    options.attention = attention;
    options.readout_rank = attention == Attention::kNone ? 64 : 0;
    Random random(81);
    const Sentences source = random_sentences(random, 24, 30, options.source_words);
    const Sentences target = random_sentences(random, 24, 30, options.target_words);
    for (const auto precision :
         {kernels::Precision::kFloat32, kernels::Precision::kBFloat16, kernels::Precision::kInt8}) {
      kernels::set_precision(precision);
      std::vector<float> expected;
      Loss expected_loss;
      // more than once: the memory of the last batch is used again
      for (const std::size_t count : {1u, 2u, 3u, 1u, 3u}) {
        set_thread_count(count);
        Model model(options);
        fill(model, 82);
        Loss loss;
        for (int batch = 0; batch < 2; ++batch) loss = model.accumulate_gradient(source, target);
        if (expected.empty()) {
          expected = whole_gradient(model);
          expected_loss = loss;
          ASSERT_TRUE(std::any_of(expected.begin(), expected.end(), [](float g) { return g != 0; }));
        }
        EXPECT_EQ(whole_gradient(model), expected) << count << " threads";
        EXPECT_EQ(loss.negative_log_likelihood, expected_loss.negative_log_likelihood) << count << " threads";
        EXPECT_EQ(loss.words, expected_loss.words);
        EXPECT_EQ(model.loss(source, target).negative_log_likelihood, loss.negative_log_likelihood)
            << count << " threads";
      }
    }
  }
  kernels::set_precision(kernels::Precision::kFloat32);
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
  for (std::size_t i = 0; i < source.size(); ++i) {
    Sentences one_source, one_target;
    one_source.add(source[i]);
    one_target.add(target[i]);
    expect_reference(model, one_source, one_target);
  }
}

}  // namespace
}  // namespace rnnsearch::model

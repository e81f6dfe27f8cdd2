#include "model/impl.h"

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/kernels/precision.h"
#include "tests/model/all_systems.h"
#include "tests/model/systems.h"
#include "tests/support/test.h"

namespace rnnsearch::model {
namespace {

class Systems : public testing::TestWithParam<Variant> {};

TEST_P(Systems, AgreeWithTheEquations) {
  const ModelOptions& options = GetParam().options;
  constexpr double tolerance = sizeof(Real) == 4 ? 1e-5 : 1e-10;
  Model model(options);
  fill(model, 11);
  const reference::Parameters parameters = named(model);
  const systems::System system(parameters, model.options());
  Random random(12);
  const Sentences source = random_sentences(random, 7, 12, options.source_words);
  const Sentences target = random_sentences(random, 7, 12, options.target_words);
  const auto found = model.align(source, target);
  double sum = 0;
  for (std::size_t b = 0; b < source.size(); ++b) {
    SCOPED_TRACE(testing::Message() << "sentence " << b);
    const auto expected = system.run({source[b].begin(), source[b].end()}, {target[b].begin(), target[b].end()});
    const double wanted = expected.log_probability();
    EXPECT_NEAR(found[b].log_probability, wanted, tolerance * std::abs(wanted));
    sum -= wanted;
    const std::size_t Tx = std::max<std::size_t>(1, source.length(b) + (options.source_end ? 1 : 0));
    ASSERT_EQ(found[b].alpha.size(), options.attends() ? Tx * (target.length(b) + 1) : 0);
    for (std::size_t i = 0; i < found[b].alpha.size(); ++i) {
      const double alpha = expected.alpha[i / Tx][i % Tx];
      EXPECT_NEAR(found[b].alpha[i], alpha, alpha == 0 ? 0 : 10 * tolerance) << i / Tx << ", " << i % Tx;
    }
  }
  EXPECT_NEAR(model.loss(source, target).negative_log_likelihood, sum, tolerance * sum);
}

#ifdef RNNSEARCH_DOUBLE
TEST_P(Systems, HaveTheGradientOfCentralDifferencesInEveryParameter) {
  Model model(GetParam().options);
  expect_gradient_of_central_differences(model, {}, [&](const Sentences& source, const Sentences& target) {
    return model.loss(source, target).negative_log_likelihood;
  });
}

TEST_P(Systems, GiveABatchTheScoresOfItsSentencesOneByOne) {
  Model model(GetParam().options);
  fill(model, 31);
  Random random(32);
  const Sentences source = random_sentences(random, 6, 12, 12), target = random_sentences(random, 6, 12, 13);
  const std::vector<double> together = model.score(source, target);
  for (std::size_t b = 0; b < source.size(); ++b) {
    Sentences one, other;
    one.add(source[b]);
    other.add(target[b]);
    EXPECT_NEAR(model.score(one, other)[0], together[b], 1e-12 * std::abs(together[b]));
  }
}

/// Rows of a search, two of each sentence and in another order every step, against forced decoding.
TEST_P(Systems, PredictStepByStepWhatTheyScoreAtOnce) {
  Model model(GetParam().options);
  fill(model, 41);
  Random random(42);
  Sentences source, target;
  for (const std::size_t length : {7u, 0u, 4u}) {
    source.add(random_sentence(random, length, 12));
    std::vector<WordId> words = random_sentence(random, 9, 13);
    std::replace(words.begin(), words.end(), kStart, kUnknown);
    target.add(words);
  }
  const auto expected = model.align(source, target);
  const auto encoded = model.encode(source);
  const std::size_t K = model.options().target_words;
  const std::vector<std::uint32_t> first{2, 0, 1, 1, 2, 0};
  std::vector<double> scores(source.size(), 0.0);
  const std::size_t R = first.size(), longest = 8;
  SearchState state = model.start(encoded);
  state.select(first, std::vector<WordId>(R, kStart));
  for (std::size_t i = 0; i <= 9; ++i) {
    const std::size_t at = model.options().right_to_left() && i < 9 ? 8 - i : i;
    std::vector<double> log_p(R * K, NAN), alpha(R * longest, NAN);
    model.predict(encoded, state,
                  {{log_p.data(), R, K}, i % 2 == 0 ? MatrixView<Real>{alpha.data(), R, longest} : MatrixView<Real>{}});
    std::vector<WordId> word;
    for (std::size_t row = 0; row < R; ++row) {
      const std::uint32_t b = state.sentence[row];
      word.push_back(i < 9 ? target[b][at] : kEnd);
      scores[b] += log_p[row * K + word.back()] / 2;
      const std::size_t Tx = std::max<std::size_t>(1, source.length(b) + (model.options().source_end ? 1 : 0));
      for (std::size_t j = 0; j < longest && i % 2 == 0; ++j) {
        const double wanted = model.options().attends() && j < Tx ? expected[b].alpha[at * Tx + j] : 0;
        ASSERT_NEAR(alpha[row * longest + j], wanted, 1e-12) << "step " << i << ", row " << row;
      }
    }
    if (i == 9) break;
    std::vector<std::uint32_t> parent(R);
    std::vector<WordId> parent_word;
    for (std::size_t row = 0; row < R; ++row) parent[row] = static_cast<std::uint32_t>((row + 1) % R);
    for (const auto row : parent) parent_word.push_back(word[row]);
    state.select(parent, parent_word);
    model.advance(state);
  }
  for (std::size_t b = 0; b < source.size(); ++b)
    EXPECT_NEAR(scores[b], expected[b].log_probability, 1e-11 * std::abs(scores[b]));
}
#endif

#ifndef RNNSEARCH_DOUBLE
TEST_P(Systems, ComputeTheSameBitsOnAnyNumberOfThreads) {
  ModelOptions options = GetParam().options;
  options.source_words = options.target_words = 300;
  Random random(51);
  const Sentences source = random_sentences(random, 12, 20, 300), target = random_sentences(random, 12, 20, 300);
  for (const auto precision : {kernels::Precision::kFloat32, kernels::Precision::kBFloat16}) {
    kernels::set_precision(precision);
    std::vector<float> expected;
    for (const std::size_t threads : {1u, 2u}) {
      set_thread_count(threads);
      Model model(options);
      fill(model, 52);
      const Loss loss = model.accumulate_gradient(source, target);
      EXPECT_TRUE(std::isfinite(loss.negative_log_likelihood));
      auto gradient = whole_gradient(model);
      for (const float value : gradient) ASSERT_TRUE(std::isfinite(value));
      if (threads == 1)
        expected = std::move(gradient);
      else
        EXPECT_EQ(std::memcmp(gradient.data(), expected.data(), expected.size() * sizeof(float)), 0);
    }
  }
  kernels::set_precision(kernels::Precision::kFloat32);
}

TEST_P(Systems, FinishEachPartOfTheGradientOnce) {
  Model model(GetParam().options);
  fill(model, 61);
  const auto parts = model.gradient_parts();
  std::vector<int> elements(model.gradient().size()), tables(model.table_gradients().size());
  for (const auto& part : parts) {
    if (part.table >= 0) ++tables[static_cast<std::size_t>(part.table)];
    for (std::size_t i = 0; i < part.size; ++i) ++elements[part.first + i];
  }
  EXPECT_EQ(elements, std::vector<int>(elements.size(), 1));
  EXPECT_EQ(tables, std::vector<int>(tables.size(), 1));
  Random random(62);
  const Sentences source = random_sentences(random, 4, 7, 12), target = random_sentences(random, 4, 7, 13);
  const auto copy_of = [&](const GradientPart& part) {
    if (part.table < 0) {
      const auto values = model.gradient().subspan(part.first, part.size);
      return std::vector<float>(values.begin(), values.end());
    }
    const auto rows = model.table_gradients()[static_cast<std::size_t>(part.table)].rows.rows();
    return std::vector<float>(rows.data, rows.data + rows.rows * rows.cols);
  };
  for (int batch = 0; batch < 3; ++batch) {  // the last one without pairs
    std::vector<std::vector<float>> finished;
    const GradientOptions how{.finished = [&](const GradientPart& part) {
      ASSERT_EQ(part.first, parts[finished.size()].first);
      finished.push_back(copy_of(part));
    }};
    model.accumulate_gradient(batch < 2 ? source : Sentences(), batch < 2 ? target : Sentences(), how);
    ASSERT_EQ(finished.size(), parts.size());
    for (std::size_t part = 0; part < parts.size(); ++part) EXPECT_EQ(finished[part], copy_of(parts[part])) << part;
  }
}

// The sums of the source words over the ranks take longest, and weights can be computed while they travel.
TEST(GradientPartsOfRnnsearch, OfTheSourceWordsComeBeforeTheEncodersWeights) {
  const Model model(small());
  const auto parts = model.gradient_parts();
  ASSERT_GE(parts.size(), 3U);
  EXPECT_EQ(parts[parts.size() - 3].table, 0);
  const std::size_t m = 6, n = 8, of_direction = m * 3 * n + n + n * 3 * n;
  for (const auto& part : parts.last(2)) EXPECT_EQ(part.table, -1);
  EXPECT_EQ(parts[parts.size() - 2].size, m + of_direction);  // with the bias of the embedding
  EXPECT_EQ(parts.back().size, of_direction);
}
#endif

/// Memory is kept from batch to batch. A batch that was not a number must not reach the next one through rows that
/// nobody wrote since, not even multiplied by 0.
TEST_P(Systems, LeaveNothingOfABatchForTheNext) {
  const ModelOptions& options = GetParam().options;
  Model used(options), fresh(options);
  fill(used, 61);
  fill(fresh, 61);
  Random random(62);
  const Sentences source = random_sentences(random, 12, 15, 12), target = random_sentences(random, 12, 15, 13);
  const Sentences larger_source = random_sentences(random, 30, 20, 12),
                  larger_target = random_sentences(random, 30, 20, 13);
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

INSTANTIATE_TEST_SUITE_P(Every, Systems, testing::ValuesIn(all_systems()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Rnnsearch, Systems, testing::ValuesIn(variants(widths(50, 17, 22, 13, 9), 7)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Small, Systems, testing::ValuesIn(variants(widths(12, 4, 5, 6, 3), 4)), name_of_case);
INSTANTIATE_TEST_SUITE_P(TurnedRound, Systems, testing::ValuesIn(variants(with(small(), kTurnedRound), 4)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Combined, Systems, testing::ValuesIn(all_combinations()), name_of_case);

}  // namespace
}  // namespace rnnsearch::model

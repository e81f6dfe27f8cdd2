#include "rnnsearch/decode/ensemble.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rnnsearch/decode/translate.h"
#include "tests/decode/random_model.h"

namespace rnnsearch::decode {
namespace {

// That the numbers are right is in reference_test.cpp.

TEST(Ensemble, OfOneModelIsThatModelToTheBit) {
  auto model = random_model({.seed = 1});
  const Sentences source = some_sentences(20, 7);
  const SearchOptions options{.beam = 4, .n_best = 4, .coverage_penalty = 0.2, .alignments = true};
  for (const EnsembleMean of : {EnsembleMean::kProbabilities, EnsembleMean::kLogarithms}) {
    const Ensemble one({&model}, {7.5}, of);
    expect_same_bits(translate(one, source, options), translate(model, source, options));
    EXPECT_EQ(score(one, source, source), model.score(source, source));
  }
}

TEST(Ensemble, HasTheLongestOfItsModelsSources) {
  auto with_end = random_model({.seed = 1}), without = random_model({.seed = 2, .source_end = false});
  const Ensemble both({&without, &with_end}, {1, 1}, EnsembleMean::kLogarithms);
  EXPECT_EQ(both.source_length(3), 4u);
  EXPECT_EQ(both.source_length(0), 1u);
  const auto translations = translate(both, some_sentences(5, 4), {.beam = 2, .alignments = true});
  const Sentences source = some_sentences(5, 4);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const Translation& best = translations[i][0];
    const std::size_t Tx = source.length(i) + 1;
    ASSERT_EQ(best.alignment.size(), best.word_scores.size() * Tx);
    for (std::size_t k = 0; k < best.word_scores.size(); ++k) {
      float sum = 0;
      for (std::size_t j = 0; j < Tx; ++j) sum += best.alignment[k * Tx + j];
      EXPECT_NEAR(sum, 1, 1e-5) << "the model that does not read </s> gives it no weight";
      EXPECT_LE(best.alignment[k * Tx + Tx - 1], 0.5 + 1e-5);
    }
  }
}

TEST(Ensemble, IsNanWhereOneOfItsModelsIs) {
  for (const EnsembleMean of : {EnsembleMean::kProbabilities, EnsembleMean::kLogarithms}) {
    for (const bool first_is_nan : {true, false}) {
      auto good = random_model({.seed = 1}), bad = random_model({.seed = 2});
      bad.parameters()[bad.layout().find("readout/b_w").offset] = std::numeric_limits<float>::quiet_NaN();
      const Ensemble ensemble({first_is_nan ? &bad : &good, first_is_nan ? &good : &bad}, {1, 1}, of);
      EXPECT_TRUE(translate(ensemble, some_sentences(3, 4), {.beam = 2})[0].at(0).is_nan());
      EXPECT_TRUE(std::isnan(score(ensemble, some_sentences(1, 4), some_sentences(1, 4))[0]));
    }
  }
}

}  // namespace
}  // namespace rnnsearch::decode

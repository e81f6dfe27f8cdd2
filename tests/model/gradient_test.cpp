#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "rnnsearch/base/random.h"
#include "rnnsearch/model/model.h"
#include "tests/support/whole_gradient.h"

namespace rnnsearch::model {
namespace {

struct Case {
  std::string name;
  ModelOptions options;
};

std::vector<Case> cases() {
  ModelOptions base;
  base.source_words = 9;
  base.target_words = 11;
  base.embedding = 4;
  base.state = 5;
  base.alignment = 6;
  base.maxout = 3;
  std::vector<Case> all;
  for (const Attention attention : {Attention::kAdditive, Attention::kNone}) {
    for (const StateWord word : {StateWord::kCurrent, StateWord::kPrevious}) {
      for (const bool full : {false, true}) {
        ModelOptions o = base;
        o.attention = attention;
        o.state_word = word;
        o.readout_rank = full ? 4 : 0;
        o.gate_biases = full;
        o.embedding_biases = !full;
        all.push_back({name_of(attention) + "_" + name_of(word) + (full ? "_factored" : "_plain"), o});
      }
    }
  }
  return all;
}

Sentences random_sentences(Random& random, const std::vector<std::size_t>& lengths, std::size_t vocabulary) {
  Sentences sentences;
  for (const std::size_t length : lengths) {
    std::vector<WordId> words(length);
    for (auto& word : words) word = static_cast<WordId>(3 + random.below(vocabulary - 3));
    sentences.add(words);
  }
  return sentences;
}

class ModelGradient : public testing::TestWithParam<Case> {};

TEST_P(ModelGradient, EqualsCentralDifferencesForEveryParameter) {
  Model model(GetParam().options);
  Random random(7);
  for (double& value : model.parameters()) value = 0.5 * random.normal();
  const Sentences source = random_sentences(random, {3, 1, 0, 5, 3}, 9);
  const Sentences target = random_sentences(random, {2, 4, 1, 0, 6}, 11);
  const Loss loss = model.accumulate_gradient(source, target);
  EXPECT_EQ(loss.words, 13u + 5u);
  EXPECT_NEAR(loss.negative_log_likelihood, model.loss(source, target).negative_log_likelihood, 1e-10);

  const std::vector<double> gradient = whole_gradient(model);
  constexpr double kStep = 1e-5;
  for (const Parameter& parameter : model.layout().parameters) {
    for (std::size_t i = 0; i < parameter.rows(); ++i) {
      for (std::size_t j = 0; j < parameter.cols(); ++j) {
        double& weight = model.parameters()[parameter.offset + i * parameter.stride + j];
        const double kept = weight;
        weight = kept + kStep;
        const double above = model.loss(source, target).negative_log_likelihood;
        weight = kept - kStep;
        const double below = model.loss(source, target).negative_log_likelihood;
        weight = kept;
        const double expected = (above - below) / (2 * kStep);
        const double found = gradient[parameter.offset + i * parameter.stride + j];
        ASSERT_NEAR(found, expected, 1e-7 * std::max(1.0, std::abs(expected)))
            << parameter.name << " [" << i << ", " << j << "]";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, ModelGradient, testing::ValuesIn(cases()),
                         [](const auto& chosen) { return chosen.param.name; });

}  // namespace
}  // namespace rnnsearch::model

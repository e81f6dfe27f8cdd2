// Small models with random weights, and sentences for them: what the tests of this folder translate.
#pragma once

#include "rnnsearch/base/portable.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/decode/translate.h"
#include "rnnsearch/model/model.h"
#include "tests/support/test.h"

namespace rnnsearch::decode {

inline constexpr std::size_t kSourceWords = 12;

struct RandomModel {
  std::size_t target_words = 12;
  model::Attention attention = model::Attention::kAdditive;
  std::uint64_t seed = 1;
  double scale = 0.6;  // large enough that words differ in probability and no two hypotheses tie
  std::size_t state = 6;
  bool source_start = false, source_end = true;
};

inline model::Model random_model(const RandomModel& wanted = {}) {
  model::ModelOptions options;
  options.source_words = kSourceWords;
  options.target_words = wanted.target_words;
  options.embedding = 5;
  options.state = wanted.state;
  options.alignment = 7;
  options.maxout = 4;
  options.attention = wanted.attention;
  options.source_start = wanted.source_start;
  options.source_end = wanted.source_end;
  model::Model model(options);
  // By name, so that a model does not depend on the order of parameters in memory.
  std::map<std::string, model::Parameter> parameters;
  for (const auto& parameter : model::parameter_layout_of(options).parameters) parameters[parameter.name] = parameter;
  Random random(70 + wanted.seed);  // some of whose hypotheses end
  for (const auto& [name, parameter] : parameters) {
    std::vector<float> weights(parameter.count());
    for (float& weight : weights) weight = static_cast<float>(wanted.scale * random.normal());
    model::copy_in(parameter, weights, model.parameters());
  }
  return model;
}

/// A vocabulary of these words behind the special symbols.
inline corpus::Vocabulary vocabulary_of(const std::vector<std::string>& words) {
  std::vector<std::string> all(corpus::kSpecialSymbols.begin(), corpus::kSpecialSymbols.end());
  all.insert(all.end(), words.begin(), words.end());
  return corpus::Vocabulary(all);
}

/// Of 1 to `longest` words, none of them special.
inline Sentences some_sentences(std::size_t count, std::size_t longest, std::uint64_t seed = 2) {
  Random random(seed);
  Sentences sentences;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<WordId> words(1 + random.below(longest));
    for (WordId& word : words) word = static_cast<WordId>(3 + random.below(kSourceWords - 3));
    sentences.add(words);
  }
  return sentences;
}

/// log p(word | prefix) of every next word, stepping through the model one sentence and one hypothesis at a time.
inline std::vector<float> next_word(model::Model& model, std::span<const WordId> source,
                                    const std::vector<WordId>& prefix) {
  Sentences one;
  one.add(source);
  const auto encoded = model.encode(one);
  auto state = model.start(encoded);
  std::vector<float> log_probabilities(model.options().target_words);
  const std::vector<std::uint32_t> same{0};
  for (std::size_t k = 0;; ++k) {
    model.predict(encoded, state, {{log_probabilities.data(), 1, log_probabilities.size()}});
    if (k == prefix.size()) return log_probabilities;
    state.select(same, std::vector<WordId>{prefix[k]});
    model.advance(state);
  }
}

inline void expect_same_bits(const std::vector<std::vector<Translation>>& one,
                             const std::vector<std::vector<Translation>>& two, const std::string& what = {}) {
  ASSERT_EQ(one.size(), two.size()) << what;
  for (std::size_t i = 0; i < one.size(); ++i) {
    ASSERT_EQ(one[i].size(), two[i].size()) << what << ", sentence " << i;
    for (std::size_t k = 0; k < one[i].size(); ++k) {
      const Translation &a = one[i][k], &b = two[i][k];
      EXPECT_TRUE(a.words == b.words && a.log_probability == b.log_probability && a.word_scores == b.word_scores &&
                  a.alignment == b.alignment && a.coverage == b.coverage && a.finished == b.finished &&
                  a.retries == b.retries)
          << what << ", sentence " << i << ", translation " << k;
    }
  }
}

}  // namespace rnnsearch::decode

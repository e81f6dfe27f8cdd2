// What the model's tests share: small models of every kind with weights large enough to matter, and random sentences.
#pragma once

#include "rnnsearch/base/portable.h"
#include "rnnsearch/model/model.h"
#include "tests/support/scores.h"
#include "tests/support/test.h"

namespace rnnsearch::model {

struct Variant {
  std::string name;
  ModelOptions options;

  friend void PrintTo(const Variant& variant, std::ostream* stream) { *stream << variant.name; }
};

/// The options with these settings, by the names of the options: "cell=lstm layers=2".
inline ModelOptions with(ModelOptions options, const std::string& settings) {
  const OptionList list = options_of(options);
  std::istringstream all(settings);
  for (std::string setting; all >> setting;) {
    const std::size_t equals = setting.find('=');
    const Option* const option = list.find(setting.substr(0, equals));
    EXPECT_TRUE(option && option->read(setting.substr(equals + 1))) << setting;
  }
  return options;
}

inline ModelOptions widths(std::size_t vocabulary, std::size_t embedding, std::size_t state, std::size_t alignment,
                           std::size_t maxout) {
  ModelOptions options;
  options.source_words = vocabulary;
  options.target_words = vocabulary + 1;
  options.embedding = embedding;
  options.state = state;
  options.alignment = alignment;
  options.maxout = maxout;
  return options;
}

/// Normal values, matrices scaled by 1/sqrt(rows), so that no unit is idle and none saturated at any width.
inline void fill(Model& model, std::uint64_t seed) {
  Random random(seed);
  for (const Parameter& parameter : model.layout().parameters) {
    const bool table = parameter.name.ends_with("embedding");
    const double scale =
        parameter.shape.size() == 1 ? 0.5 : 1 / std::sqrt(table ? 1.0 : static_cast<double>(parameter.rows()));
    for (std::size_t i = 0; i < parameter.rows(); ++i) {
      for (std::size_t j = 0; j < parameter.cols(); ++j)
        model.parameters()[parameter.offset + i * parameter.stride + j] = static_cast<Real>(scale * random.normal());
    }
  }
}

/// The weights read element by element where the layout says they are.
inline reference::Parameters named(const Model& model) {
  reference::Parameters result;
  for (const Parameter& parameter : model.layout().parameters) {
    reference::Matrix& matrix = result[parameter.name];
    matrix.rows = parameter.rows();
    matrix.cols = parameter.cols();
    for (std::size_t i = 0; i < matrix.rows; ++i) {
      for (std::size_t j = 0; j < matrix.cols; ++j)
        matrix.values.push_back(static_cast<double>(model.parameters()[parameter.offset + i * parameter.stride + j]));
    }
  }
  return result;
}

/// Any id may occur, <unk>, <s> and </s> too.
inline std::vector<WordId> random_sentence(Random& random, std::size_t length, std::size_t vocabulary) {
  std::vector<WordId> words(length);
  for (WordId& word : words) word = static_cast<WordId>(random.below(vocabulary));
  return words;
}

inline Sentences random_sentences(Random& random, std::size_t count, std::size_t longest, std::size_t vocabulary) {
  Sentences sentences;
  for (std::size_t i = 0; i < count; ++i) sentences.add(random_sentence(random, random.below(longest + 1), vocabulary));
  return sentences;
}

}  // namespace rnnsearch::model

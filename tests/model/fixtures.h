// What the model's tests share: small models of every kind with weights large enough to matter, and random sentences.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "rnnsearch/base/portable.h"
#include "rnnsearch/model/model.h"
#include "tests/support/reference_model.h"

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

/// Attention, the state's word, gate biases, embedding biases, a factored readout: each with and without, all together.
inline std::vector<Variant> variants(const ModelOptions& widths, std::size_t readout_rank) {
  std::vector<Variant> all;
  for (const Attention attention : {Attention::kAdditive, Attention::kNone}) {
    for (const StateWord word : {StateWord::kCurrent, StateWord::kPrevious}) {
      for (const unsigned biases : {0u, 1u, 2u, 3u}) {
        for (const std::size_t rank : {std::size_t{0}, readout_rank}) {
          Variant variant{name_of(attention) + "_" + name_of(word), widths};
          variant.options.attention = attention;
          variant.options.state_word = word;
          variant.options.gate_biases = (biases & 1) != 0;
          variant.options.embedding_biases = (biases & 2) != 0;
          variant.options.readout_rank = rank;
          if (variant.options.gate_biases) variant.name += "_gate_biases";
          if (variant.options.embedding_biases) variant.name += "_embedding_biases";
          if (rank > 0) variant.name += "_factored";
          all.push_back(variant);
        }
      }
    }
  }
  return all;
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
      for (std::size_t j = 0; j < parameter.cols(); ++j) {
        model.parameters()[parameter.offset + i * parameter.stride + j] = static_cast<Real>(scale * random.normal());
      }
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
      for (std::size_t j = 0; j < matrix.cols; ++j) {
        matrix.values.push_back(static_cast<double>(model.parameters()[parameter.offset + i * parameter.stride + j]));
      }
    }
  }
  return result;
}

inline reference::StateReads state_reads(const ModelOptions& options) {
  return options.state_word == StateWord::kCurrent ? reference::StateReads::kCurrentWord
                                                   : reference::StateReads::kPreviousWord;
}

/// Any id may occur, <unk>, <s> and </s> too.
inline std::vector<WordId> random_sentence(Random& random, std::size_t length, std::size_t vocabulary) {
  std::vector<WordId> words(length);
  for (WordId& word : words) word = static_cast<WordId>(random.below(vocabulary));
  return words;
}

inline Sentences random_sentences(Random& random, std::size_t count, std::size_t longest, std::size_t vocabulary) {
  Sentences sentences;
  for (std::size_t i = 0; i < count; ++i) {
    sentences.add(random_sentence(random, random.below(longest + 1), vocabulary));
  }
  return sentences;
}

}  // namespace rnnsearch::model

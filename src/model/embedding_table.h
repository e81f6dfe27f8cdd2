// The word embeddings of one side, with the place of their gradient: rows of the words that occur, or the whole table
// where it is also the output matrix.
#pragma once

#include <span>

#include "rnnsearch/layers/embedding.h"

namespace rnnsearch::model {

struct EmbeddingTable {
  layers::EmbeddingWeights weights, gradient;
  layers::RowGradient* rows = nullptr;  // nullptr: the gradient of the table is dense, in gradient.E

  /// output [words.size(), m] out.
  void forward(std::span<const WordId> words, Matrix output) const {
    layers::embedding_forward(weights, words, output);
  }
  /// ADDS to the gradient.
  void backward(std::span<const WordId> words, ConstMatrix output_gradient) const {
    if (rows) {
      layers::embedding_backward(*rows, gradient.bias, words, output_gradient);
    } else {
      layers::embedding_backward(gradient, words, output_gradient);
    }
  }
};

}  // namespace rnnsearch::model

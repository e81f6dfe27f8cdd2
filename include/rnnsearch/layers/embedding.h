// E x + b_e: rows of a table, and the released code's bias on them (Bahdanau, Cho and Bengio 2015, appendix A.2).
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"

namespace rnnsearch::layers {

template <class Real>
struct EmbeddingWeights {
  MatrixView<Real> E;    // [K, m]
  std::span<Real> bias;  // [m] or empty
};

/// output [words.size(), m]
template <class Real>
void embedding_forward(const EmbeddingWeights<Real>& weights, std::span<const WordId> words, MatrixView<Real> output);
/// ADDS to `gradient`.
template <class Real>
void embedding_backward(const EmbeddingWeights<Real>& gradient, std::span<const WordId> words,
                        ConstMatrixView<Real> output_gradient);

}  // namespace rnnsearch::layers

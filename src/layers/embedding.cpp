#include "rnnsearch/layers/embedding.h"

#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::layers {

template <class Real>
void embedding_forward(const EmbeddingWeights<Real>& weights, std::span<const WordId> words, MatrixView<Real> output) {
  kernels::gather_rows<Real>(weights.E, words, output);
  if (!weights.bias.empty()) kernels::add_to_rows<Real>(weights.bias, output);
}

template <class Real>
void embedding_backward(const EmbeddingWeights<Real>& gradient, std::span<const WordId> words,
                        ConstMatrixView<Real> output_gradient) {
  kernels::scatter_add_rows<Real>(output_gradient, words, gradient.E);
  if (!gradient.bias.empty()) kernels::add_column_sums<Real>(output_gradient, gradient.bias);
}

template void embedding_forward(const EmbeddingWeights<float>&, std::span<const WordId>, MatrixView<float>);
template void embedding_forward(const EmbeddingWeights<double>&, std::span<const WordId>, MatrixView<double>);
template void embedding_backward(const EmbeddingWeights<float>&, std::span<const WordId>, ConstMatrixView<float>);
template void embedding_backward(const EmbeddingWeights<double>&, std::span<const WordId>, ConstMatrixView<double>);

}  // namespace rnnsearch::layers

#include "rnnsearch/layers/embedding.h"

#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::layers {

template <class Real>
void embedding_forward(const EmbeddingWeights<Real>& weights, std::span<const WordId> words, MatrixView<Real> output) {
  kernels::gather_rows<Real>(weights.E, words, output);
  if (!weights.bias.empty()) kernels::add_to_rows<Real>(weights.bias, output);
}

template <class Real>
void RowGradient<Real>::clear() {
  for (const WordId word : words_) place_[word] = kNone;
  words_.clear();
  rows_.clear();
}

template <class Real>
void RowGradient<Real>::add(std::span<const WordId> words, ConstMatrixView<Real> gradient) {
  places_.clear();
  for (const WordId word : words) {
    if (place_[word] == kNone) {
      place_[word] = static_cast<std::uint32_t>(words_.size());
      words_.push_back(word);
    }
    places_.push_back(place_[word]);
  }
  rows_.resize(words_.size() * cols_);
  kernels::scatter_add_rows<Real>(gradient, places_, {rows_.data(), words_.size(), cols_});
}

template <class Real>
void embedding_backward(RowGradient<Real>& table, std::span<Real> bias_gradient, std::span<const WordId> words,
                        ConstMatrixView<Real> output_gradient) {
  table.add(words, output_gradient);
  if (!bias_gradient.empty()) kernels::add_column_sums<Real>(output_gradient, bias_gradient);
}

template <class Real>
void embedding_backward(const EmbeddingWeights<Real>& gradient, std::span<const WordId> words,
                        ConstMatrixView<Real> output_gradient) {
  kernels::scatter_add_rows<Real>(output_gradient, words, gradient.E);
  if (!gradient.bias.empty()) kernels::add_column_sums<Real>(output_gradient, gradient.bias);
}

template class RowGradient<float>;
template class RowGradient<double>;

template void embedding_forward(const EmbeddingWeights<float>&, std::span<const WordId>, MatrixView<float>);
template void embedding_forward(const EmbeddingWeights<double>&, std::span<const WordId>, MatrixView<double>);
template void embedding_backward(RowGradient<float>&, std::span<float>, std::span<const WordId>,
                                 ConstMatrixView<float>);
template void embedding_backward(RowGradient<double>&, std::span<double>, std::span<const WordId>,
                                 ConstMatrixView<double>);
template void embedding_backward(const EmbeddingWeights<float>&, std::span<const WordId>, ConstMatrixView<float>);
template void embedding_backward(const EmbeddingWeights<double>&, std::span<const WordId>, ConstMatrixView<double>);

}  // namespace rnnsearch::layers

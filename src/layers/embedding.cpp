#include "rnnsearch/layers/embedding.h"

#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::layers {

void RowGradient::clear() {
  for (const WordId word : words_) index_[word] = kNone;
  words_.clear();
  rows_.clear();
}

void RowGradient::add(std::span<const WordId> words, ConstMatrix gradient) {
  indices_.clear();
  for (const WordId word : words) {
    if (index_[word] == kNone) {
      index_[word] = static_cast<std::uint32_t>(words_.size());
      words_.push_back(word);
    }
    indices_.push_back(index_[word]);
  }
  rows_.resize(words_.size() * cols_);
  kernels::scatter_add_rows(gradient, indices_, {rows_.data(), words_.size(), cols_});
}

void EmbeddingTable::forward(std::span<const WordId> words, Matrix output) const {
  kernels::gather_rows(weights.E, words, output);
  if (!weights.bias.empty()) kernels::add_to_rows(weights.bias, output);
}

void EmbeddingTable::backward(std::span<const WordId> words, ConstMatrix output_gradient) const {
  if (rows) {
    rows->add(words, output_gradient);
  } else {
    kernels::scatter_add_rows(output_gradient, words, gradient.E);
  }
  if (!gradient.bias.empty()) kernels::add_column_sums(output_gradient, gradient.bias);
}

}  // namespace rnnsearch::layers

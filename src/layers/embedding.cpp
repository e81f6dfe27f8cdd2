#include "rnnsearch/layers/embedding.h"

#include <numeric>
#include <unordered_map>

#include "rnnsearch/kernels/gemm.h"
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

DistinctWords::DistinctWords(std::span<const WordId> of_rows) {
  std::unordered_map<WordId, std::uint32_t> known;
  known.reserve(of_rows.size());
  index.reserve(of_rows.size());
  for (const WordId word : of_rows) {
    const auto [found, is_new] = known.try_emplace(word, static_cast<std::uint32_t>(words.size()));
    if (is_new) words.push_back(word);
    index.push_back(found->second);
  }
}

DistinctWords DistinctWords::each(std::span<const WordId> of_rows) {
  DistinctWords all;
  all.words.assign(of_rows.begin(), of_rows.end());
  all.index.resize(of_rows.size());
  std::iota(all.index.begin(), all.index.end(), 0U);
  return all;
}

void affine_forward(const RepeatedRows& rows, ConstMatrix W, std::span<const Real> b, Matrix output,
                    const kernels::Scratch& memory) {
  kernels::Scratch::Frame frame(memory);
  const auto distinct = rows.index.empty() ? output : frame.matrix(rows.distinct.rows, output.cols);
  kernels::multiply(rows.distinct, W, distinct);
  kernels::add_to_rows(b, distinct.columns(0, b.size()));
  if (!rows.index.empty()) kernels::gather_rows(distinct, rows.index, output);
}

Matrix add_repeated(const RepeatedRows& rows, Matrix output_gradient, kernels::Scratch::Frame& frame) {
  if (rows.index.empty()) return output_gradient;
  const auto sums = frame.zeros(rows.distinct.rows, output_gradient.cols);
  kernels::scatter_add_rows(output_gradient, rows.index, sums);
  return sums;
}

}  // namespace rnnsearch::layers

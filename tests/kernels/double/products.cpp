// What the programs in double have in place of the tiles of float: the functions of gemm.h, and of top_words.h, as
// plain loops.
#include <cassert>
#include <utility>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/kernels/softmax.h"
#include "rnnsearch/kernels/top_words.h"

namespace rnnsearch::kernels {
namespace {

// c = op(a) op(b), or added to c, where term(i, k, j) is a term of element (i, j).
template <class Term>
void product(Matrix c, std::size_t K, Into into, const Term& term) {
  assert(!inside_parallel_for());
  parallel_for(c.rows, [&](std::size_t i) {
    for (std::size_t j = 0; j < c.cols; ++j) {
      Real sum = into == Into::kAdd ? c(i, j) : 0;
      for (std::size_t k = 0; k < K; ++k) sum += term(i, k, j);
      c(i, j) = sum;
    }
  });
}

}  // namespace

void multiply(ConstMatrix a, ConstMatrix b, Matrix c, Into into) {
  assert(a.rows == c.rows && a.cols == b.rows && b.cols == c.cols);
  product(c, a.cols, into, [&](std::size_t i, std::size_t k, std::size_t j) { return a(i, k) * b(k, j); });
}

void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix c, Into into) {
  assert(a.rows == c.rows && a.cols == b.cols && b.rows == c.cols);
  product(c, a.cols, into, [&](std::size_t i, std::size_t k, std::size_t j) { return a(i, k) * b(j, k); });
}

void accumulate_outer(ConstMatrix a, ConstMatrix b, Matrix c) {
  assert(a.rows == b.rows && a.cols == c.rows && b.cols == c.cols);
  product(c, a.rows, Into::kAdd, [&](std::size_t i, std::size_t k, std::size_t j) { return a(k, i) * b(k, j); });
}

void PackedMatrix::pack(ConstMatrix b, bool transposed, Scratch::Frame* frame) {
  rows_ = transposed ? b.cols : b.rows;
  cols_ = transposed ? b.rows : b.cols;
  elements_ = frame ? frame->matrix(rows_, cols_) : own_.shape(rows_, cols_);
  for (std::size_t k = 0; k < rows_; ++k) {
    for (std::size_t j = 0; j < cols_; ++j) elements_(k, j) = transposed ? b(j, k) : b(k, j);
  }
}

void multiply(ConstMatrix a, const PackedMatrix& b, Matrix c, Into into) {
  multiply(a, {reinterpret_cast<const Real*>(b.panels()), b.rows(), b.cols()}, c, into);
}

void top_words(ConstMatrix t, const PackedMatrix& W_o, std::span<const Real> bias, TopWords& top) {
  const auto scores = std::make_shared<Buffer<Real>>();
  const auto all = scores->shape(t.rows, bias.size());
  multiply(t, W_o, all);
  log_softmax(bias, all);
  top.shape(all.rows, all.cols);
  for (std::size_t i = 0; i < all.rows; ++i) select_top_words({all.row(i), all.cols}, i, top);
  top.look_up = [all, scores](const auto& words) {
    for (const WordOfRow& one : words) *one.log_probability = all(one.row, one.word);
  };
}

Precision precision() { return Precision::kFloat32; }

void round_to_bfloat16(ConstMatrix, MatrixView<BFloat16>) {
  assert(false);  // only in another precision
}

}  // namespace rnnsearch::kernels

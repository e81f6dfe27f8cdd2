#include "rnnsearch/layers/readout.h"

#include <algorithm>

#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/kernels/softmax.h"

namespace rnnsearch::layers {
namespace {

using kernels::Into;

constexpr std::size_t kBlockRows = 256;  // 31 MB of float logits for 30,000 words

// What the output matrix multiplies: t, or t W_o_left.
template <class Real>
MatrixView<Real> hidden_forward(const ReadoutWeights<Real>& weights, const ReadoutInput<Real>& input,
                                ReadoutActivations<Real>& activations) {
  const std::size_t R = input.state.rows, width = weights.b_o.size();
  const auto sums = activations.sums.shape(R, width);
  kernels::multiply<Real>(input.state, weights.U_o, sums);
  kernels::multiply<Real>(input.word, weights.V_o, sums, Into::kAdd);
  kernels::multiply<Real>(input.context, weights.C_o, sums, Into::kAdd);
  kernels::add_to_rows<Real>(weights.b_o, sums);
  const auto t = activations.t.shape(R, width / 2);
  kernels::maxout_forward<Real>(sums, t);
  if (weights.W_o_left.cols == 0) return t;
  const auto factor = activations.factor.shape(R, weights.W_o_left.cols);
  kernels::multiply<Real>(t, weights.W_o_left, factor);
  return factor;
}

// W_o: a ConstMatrixView, or packed.
template <class Real, class Matrix>
void logits_forward(const Matrix& W_o, std::span<const Real> b_w, ConstMatrixView<Real> hidden,
                    MatrixView<Real> logits) {
  kernels::multiply<Real>(hidden, W_o, logits);
  kernels::add_to_rows<Real>(b_w, logits);
}

template <class Block>
void for_blocks(std::size_t rows, const Block& block) {
  for (std::size_t first = 0; first < rows; first += kBlockRows) block(first, std::min(kBlockRows, rows - first));
}

}  // namespace

template <class Real>
void readout_log_probabilities(const ReadoutWeights<Real>& weights, const ReadoutInput<Real>& input,
                               ReadoutActivations<Real>& activations, MatrixView<Real> log_probabilities) {
  logits_forward<Real>(ConstMatrixView<Real>(weights.W_o), weights.b_w, hidden_forward(weights, input, activations),
                       log_probabilities);
  kernels::log_softmax<Real>(log_probabilities);
}

template <class Real>
void readout_loss(const ReadoutWeights<Real>& weights, const ReadoutInput<Real>& input, std::span<const WordId> target,
                  ReadoutActivations<Real>& activations, std::span<double> loss) {
  const MatrixView<Real> hidden = hidden_forward(weights, input, activations);
  activations.packed_W_o.pack(weights.W_o);
  for_blocks(hidden.rows, [&](std::size_t first, std::size_t count) {
    const auto logits = activations.logits.shape(count, weights.W_o.cols);
    logits_forward<Real>(activations.packed_W_o, weights.b_w, hidden.row_range(first, count), logits);
    kernels::softmax_loss<Real>(logits, target.subspan(first, count), loss.subspan(first, count));
  });
}

template <class Real>
void readout_loss_and_backward(const ReadoutWeights<Real>& weights, const ReadoutWeights<Real>& gradient,
                               const ReadoutInput<Real>& input, std::span<const WordId> target,
                               ReadoutActivations<Real>& activations, std::span<double> loss,
                               const ReadoutGradients<Real>& gradients) {
  const MatrixView<Real> hidden = hidden_forward(weights, input, activations);
  const auto hidden_gradient = activations.factor_gradient.shape(hidden.rows, hidden.cols);
  activations.packed_W_o.pack(weights.W_o);
  activations.packed_W_o_transposed.pack_transposed(weights.W_o);
  for_blocks(hidden.rows, [&](std::size_t first, std::size_t count) {
    const auto logits = activations.logits.shape(count, weights.W_o.cols);
    const auto rows = hidden.row_range(first, count);
    logits_forward<Real>(activations.packed_W_o, weights.b_w, rows, logits);
    kernels::softmax_cross_entropy<Real>(logits, target.subspan(first, count), loss.subspan(first, count));
    kernels::multiply<Real>(logits, activations.packed_W_o_transposed, hidden_gradient.row_range(first, count));
    kernels::accumulate_outer<Real>(rows, logits, gradient.W_o);
    kernels::add_column_sums<Real>(logits, gradient.b_w);
  });

  const auto t = activations.t.view();
  MatrixView<Real> t_gradient = hidden_gradient;
  if (weights.W_o_left.cols > 0) {
    t_gradient = activations.t_gradient.shape(t.rows, t.cols);
    kernels::multiply_transposed<Real>(hidden_gradient, weights.W_o_left, t_gradient);
    kernels::accumulate_outer<Real>(t, hidden_gradient, gradient.W_o_left);
  }
  const auto sums = activations.sums.view();
  const auto sums_gradient = activations.sums_gradient.shape(sums.rows, sums.cols);
  kernels::maxout_backward<Real>(sums, t_gradient, sums_gradient);
  kernels::accumulate_outer<Real>(input.state, sums_gradient, gradient.U_o);
  kernels::accumulate_outer<Real>(input.word, sums_gradient, gradient.V_o);
  kernels::accumulate_outer<Real>(input.context, sums_gradient, gradient.C_o);
  kernels::add_column_sums<Real>(sums_gradient, gradient.b_o);
  kernels::multiply_transposed<Real>(sums_gradient, weights.U_o, gradients.state);
  kernels::multiply_transposed<Real>(sums_gradient, weights.V_o, gradients.word);
  kernels::multiply_transposed<Real>(sums_gradient, weights.C_o, gradients.context);
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                                 \
  template void readout_log_probabilities(const ReadoutWeights<Real>&, const ReadoutInput<Real>&,                   \
                                          ReadoutActivations<Real>&, MatrixView<Real>);                             \
  template void readout_loss(const ReadoutWeights<Real>&, const ReadoutInput<Real>&, std::span<const WordId>,       \
                             ReadoutActivations<Real>&, std::span<double>);                                         \
  template void readout_loss_and_backward(                                                                          \
      const ReadoutWeights<Real>&, const ReadoutWeights<Real>&, const ReadoutInput<Real>&, std::span<const WordId>, \
      ReadoutActivations<Real>&, std::span<double>, const ReadoutGradients<Real>&);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::layers

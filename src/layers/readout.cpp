#include "rnnsearch/layers/readout.h"

#include <algorithm>

#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/kernels/softmax.h"

namespace rnnsearch::layers {
namespace {

using kernels::Into;
using kernels::Scratch;

template <class Real>
struct Hidden {
  MatrixView<Real> sums, t;  // [R, 2l], [R, l]
  MatrixView<Real> last;     // the input of the output matrix: t, or t W_o_left
};

template <class Real>
Hidden<Real> hidden_forward(const ReadoutWeights<Real>& weights, const ReadoutInput<Real>& input,
                            Scratch::Frame& frame) {
  const std::size_t R = input.state.rows, width = weights.b_o.size();
  const auto sums = frame.matrix<Real>(R, width);
  kernels::multiply<Real>(input.state, weights.U_o, sums);
  kernels::multiply<Real>(input.word, weights.V_o, sums, Into::kAdd);
  kernels::multiply<Real>(input.context, weights.C_o, sums, Into::kAdd);
  kernels::add_to_rows<Real>(weights.b_o, sums);
  const auto t = frame.matrix<Real>(R, width / 2);
  kernels::maxout_forward<Real>(sums, t);
  if (weights.W_o_left.cols == 0) return {sums, t, t};
  const auto factor = frame.matrix<Real>(R, weights.W_o_left.cols);
  kernels::multiply<Real>(t, weights.W_o_left, factor);
  return {sums, t, factor};
}

template <class Real>
OutputWeights<Real> output_of(const ReadoutWeights<Real>& weights) {
  return {weights.W_o, weights.b_w};
}

}  // namespace

template <class Real>
void readout_log_probabilities(const ReadoutWeights<Real>& weights, const ReadoutInput<Real>& input,
                               ReadoutActivations<Real>& activations, MatrixView<Real> log_probabilities) {
  Scratch::Frame frame(activations.memory);
  output_log_probabilities<Real>(output_of(weights), hidden_forward(weights, input, frame).last, activations.output,
                                 log_probabilities);
}

template <class Real>
void readout_loss(const ReadoutWeights<Real>& weights, const ReadoutInput<Real>& input, std::span<const WordId> target,
                  ReadoutActivations<Real>& activations, std::span<double> loss) {
  Scratch::Frame frame(activations.memory);
  output_loss<Real>(output_of(weights), hidden_forward(weights, input, frame).last, target, activations.output, loss);
}

template <class Real>
ReadoutGradients<Real> readout_loss_and_backward(const ReadoutWeights<Real>& weights,
                                                 const ReadoutWeights<Real>& gradient, const ReadoutInput<Real>& input,
                                                 std::span<const WordId> target, ReadoutActivations<Real>& activations,
                                                 std::span<double> loss, Scratch::Frame& frame,
                                                 double label_smoothing) {
  const std::size_t R = input.state.rows;
  const auto [sums, t, hidden] = hidden_forward(weights, input, frame);
  const auto hidden_gradient = hidden;  // takes its place
  output_loss_and_backward<Real>(output_of(weights), output_of(gradient), hidden, target, activations.output, loss,
                                 hidden_gradient, label_smoothing);

  MatrixView<Real> t_gradient = hidden_gradient;
  if (weights.W_o_left.cols > 0) {
    t_gradient = frame.matrix<Real>(t.rows, t.cols);
    kernels::multiply_transposed<Real>(hidden_gradient, weights.W_o_left, t_gradient);
    kernels::accumulate_outer<Real>(t, hidden_gradient, gradient.W_o_left);
  }
  const ReadoutGradients<Real> gradients{frame.matrix<Real>(R, input.state.cols),
                                         frame.matrix<Real>(R, input.word.cols),
                                         frame.matrix<Real>(R, input.context.cols)};
  Scratch::Frame inner(activations.memory);
  const auto sums_gradient = inner.matrix<Real>(sums.rows, sums.cols);
  kernels::maxout_backward<Real>(sums, t_gradient, sums_gradient);
  kernels::accumulate_outer<Real>(input.state, sums_gradient, gradient.U_o);
  kernels::accumulate_outer<Real>(input.word, sums_gradient, gradient.V_o);
  kernels::accumulate_outer<Real>(input.context, sums_gradient, gradient.C_o);
  kernels::add_column_sums<Real>(sums_gradient, gradient.b_o);
  kernels::multiply_transposed<Real>(sums_gradient, weights.U_o, gradients.state);
  kernels::multiply_transposed<Real>(sums_gradient, weights.V_o, gradients.word);
  kernels::multiply_transposed<Real>(sums_gradient, weights.C_o, gradients.context);
  return gradients;
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                                 \
  template void readout_log_probabilities(const ReadoutWeights<Real>&, const ReadoutInput<Real>&,                   \
                                          ReadoutActivations<Real>&, MatrixView<Real>);                             \
  template void readout_loss(const ReadoutWeights<Real>&, const ReadoutInput<Real>&, std::span<const WordId>,       \
                             ReadoutActivations<Real>&, std::span<double>);                                         \
  template ReadoutGradients<Real> readout_loss_and_backward(                                                        \
      const ReadoutWeights<Real>&, const ReadoutWeights<Real>&, const ReadoutInput<Real>&, std::span<const WordId>, \
      ReadoutActivations<Real>&, std::span<double>, Scratch::Frame&, double);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::layers

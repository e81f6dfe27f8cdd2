#include "rnnsearch/layers/gated_recurrence.h"

#include "layers/reading_order.h"
#include "rnnsearch/kernels/gates.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::layers {
template <class Real, class Matrix>
void gated_step_forward(const Matrix& U, const GatedStep<Real>& step, MatrixView<Real> scratch) {
  const std::size_t R = step.previous.rows, n = step.previous.cols;
  const MatrixView<Real> reset = scratch.row_range(0, R).columns(0, n);
  const MatrixView<Real> through_reset = scratch.row_range(0, R).columns(n, n);
  kernels::gates_forward<Real>({step.x, step.extra, step.recurrent, step.previous, step.z, step.r, reset});
  kernels::multiply<Real>(reset, U, through_reset);
  kernels::state_forward<Real>({step.x, step.extra, through_reset, step.z, step.previous, step.candidate, step.state});
}

template <class Real>
void gated_step_backward(const kernels::PackedMatrix<Real>& U_transposed, const GatedStepBackward<Real>& step,
                         MatrixView<Real> scratch) {
  kernels::state_backward<Real>(
      {step.state_gradient, step.z, step.candidate, step.previous, step.x_gradient, step.previous_gradient});
  const MatrixView<Real> reset_gradient = scratch.row_range(0, step.previous.rows);
  kernels::multiply<Real>(step.x_gradient.columns(0, U_transposed.rows()), U_transposed, reset_gradient);
  kernels::gates_backward<Real>({reset_gradient, step.r, step.previous, step.x_gradient, step.recurrent_gradient,
                                 step.previous_gradient, step.reset});
}

// h' of step t, [active[t], n]; 0 for sentences that start at t.
template <class Real>
void gather_previous(const Packing& packing, const PreviousStep& from, ConstMatrixView<Real> states,
                     MatrixView<Real> previous) {
  if (from.continuing > 0) {
    kernels::copy_rows<Real>(packing.step(states, from.step, from.continuing), previous.row_range(0, from.continuing));
  }
  kernels::zero_rows<Real>(previous.row_range(from.continuing, previous.rows - from.continuing));
}

template <class Real>
void gated_forward(const GatedWeights<Real>& weights, const Packing& packing, Direction direction,
                   ConstMatrixView<Real> input, GatedActivations<Real>& activations, MatrixView<Real> states) {
  const std::size_t X = packing.words(), n = weights.U.rows;
  const auto x = activations.x.shape(X, 3 * n);
  kernels::multiply<Real>(input, weights.W_in, x);
  kernels::add_to_rows<Real>(weights.b, x.columns(0, weights.b.size()));

  const auto candidate = x.columns(0, n), z = x.columns(n, n), r = x.columns(2 * n, n);
  kernels::Scratch::Frame frame(activations.memory);
  const auto scratch = frame.matrix<Real>(packing.sentences(), 2 * n);
  const auto recurrent_rows = frame.matrix<Real>(packing.sentences(), 2 * n);
  const auto previous_rows = frame.matrix<Real>(packing.sentences(), n);
  kernels::PackedMatrix<Real> U_gates, U;
  U_gates.pack(weights.U_gates, frame);
  U.pack(weights.U, frame);
  for (std::size_t i = 0; i < packing.steps(); ++i) {
    const std::size_t t = direction == Direction::kForward ? i : packing.steps() - 1 - i;
    const PreviousStep from = previous_step(packing, direction, t);
    const auto recurrent = recurrent_rows.row_range(0, packing.active[t]);
    kernels::zero_rows<Real>(recurrent);
    const auto previous = previous_rows.row_range(0, packing.active[t]);
    gather_previous<Real>(packing, from, states, previous);
    kernels::multiply<Real>(previous.row_range(0, from.continuing), U_gates, recurrent.row_range(0, from.continuing));
    gated_step_forward<Real>(U,
                             {packing.step(x, t),
                              {},
                              recurrent,
                              previous,
                              packing.step(z, t),
                              packing.step(r, t),
                              packing.step(candidate, t),
                              packing.step(states, t)},
                             scratch);
  }
}

template <class Real>
void gated_backward(const GatedWeights<Real>& weights, const GatedWeights<Real>& gradient, const Packing& packing,
                    Direction direction, ConstMatrixView<Real> input, GatedActivations<Real>& activations,
                    ConstMatrixView<Real> states, MatrixView<Real> state_gradient, MatrixView<Real> input_gradient) {
  const std::size_t n = weights.U.rows;
  const auto x_gradient = activations.x.view();
  const auto candidate = x_gradient.columns(0, n), z = x_gradient.columns(n, n), r = x_gradient.columns(2 * n, n);
  const auto gates_gradient = x_gradient.columns(n, 2 * n);
  kernels::Scratch::Frame frame(activations.memory);
  const auto scratch = frame.matrix<Real>(packing.sentences(), n),
             carry_rows = frame.matrix<Real>(packing.sentences(), n);
  const auto previous = frame.matrix<Real>(packing.words(), n), reset = frame.matrix<Real>(packing.words(), n);
  kernels::PackedMatrix<Real> U_gates, U;  // transposed
  U_gates.pack_transposed(weights.U_gates, frame);
  U.pack_transposed(weights.U, frame);
  for (std::size_t i = packing.steps(); i-- > 0;) {
    const std::size_t t = direction == Direction::kForward ? i : packing.steps() - 1 - i;
    const PreviousStep from = previous_step(packing, direction, t);
    gather_previous<Real>(packing, from, states, packing.step(previous, t));
    const auto carry = carry_rows.row_range(0, packing.active[t]);
    kernels::zero_rows<Real>(carry);
    gated_step_backward<Real>(U,
                              {packing.step(state_gradient, t),
                               packing.step(z, t),
                               packing.step(r, t),
                               packing.step(candidate, t),
                               packing.step(previous, t),
                               packing.step(x_gradient, t),
                               {},
                               carry,
                               packing.step(reset, t)},
                              scratch);
    if (from.continuing > 0) {
      const auto continuing = carry.row_range(0, from.continuing);
      kernels::multiply<Real>(packing.step(gates_gradient, t, from.continuing), U_gates, continuing,
                              kernels::Into::kAdd);
      kernels::add<Real>(continuing, packing.step(state_gradient, from.step, from.continuing));
    }
  }
  kernels::accumulate_outer<Real>(previous, gates_gradient, gradient.U_gates);
  kernels::accumulate_outer<Real>(reset, x_gradient.columns(0, n), gradient.U);
  kernels::accumulate_outer<Real>(input, x_gradient, gradient.W_in);
  kernels::add_column_sums<Real>(x_gradient.columns(0, gradient.b.size()), gradient.b);
  kernels::multiply_transposed<Real>(x_gradient, weights.W_in, input_gradient, kernels::Into::kAdd);
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                               \
  template void gated_step_forward(const ConstMatrixView<Real>&, const GatedStep<Real>&, MatrixView<Real>);       \
  template void gated_step_forward(const kernels::PackedMatrix<Real>&, const GatedStep<Real>&, MatrixView<Real>); \
  template void gated_step_backward(const kernels::PackedMatrix<Real>&, const GatedStepBackward<Real>&,           \
                                    MatrixView<Real>);                                                            \
  template void gated_forward(const GatedWeights<Real>&, const Packing&, Direction, ConstMatrixView<Real>,        \
                              GatedActivations<Real>&, MatrixView<Real>);                                         \
  template void gated_backward(const GatedWeights<Real>&, const GatedWeights<Real>&, const Packing&, Direction,   \
                               ConstMatrixView<Real>, GatedActivations<Real>&, ConstMatrixView<Real>,             \
                               MatrixView<Real>, MatrixView<Real>);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::layers

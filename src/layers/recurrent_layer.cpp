#include "rnnsearch/layers/recurrent_layer.h"

#include "layers/reading_order.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::layers {
template <class Real>
RecurrentLayer<Real>::RecurrentLayer(CellKind kind, std::size_t n, Direction direction,
                                     const RecurrentWeights<Real>& weights, const RecurrentWeights<Real>& gradient)
    : n_(n),
      state_width_(cell_state_width(kind, n)),
      direction_(direction),
      weights_(weights),
      gradient_(gradient),
      cell_(make_cell<Real>(kind, weights.cell, gradient.cell)) {}

template <class Real>
void RecurrentLayer<Real>::forward(const Packing& packing, ConstMatrixView<Real> input,
                                   const kernels::DropoutMask& recurrent_dropout) {
  const std::size_t X = packing.words();
  const auto x = x_.shape(X, weights_.W_in.cols);
  kernels::multiply<Real>(input, weights_.W_in, x);
  kernels::add_to_rows<Real>(weights_.b, x.columns(0, weights_.b.size()));
  const auto previous = previous_.zeros(X, state_width_), states = states_.shape(X, state_width_);
  cell_->begin(X, packing.sentences(), recurrent_dropout);
  cell_->pack();
  for (std::size_t i = 0; i < packing.steps(); ++i) {
    const std::size_t t = direction_ == Direction::kForward ? i : packing.steps() - 1 - i;
    const PreviousStep from = previous_step(packing, direction_, t);
    if (from.continuing > 0) {
      kernels::copy_rows<Real>(packing.step(states, from.step, from.continuing),
                               packing.step(previous, t, from.continuing));
    }
    cell_->forward(packing.first_row[t], packing.step(x, t), packing.step(previous, t), packing.step(states, t));
  }
}

template <class Real>
void RecurrentLayer<Real>::backward(const Packing& packing, ConstMatrixView<Real> input,
                                    MatrixView<Real> state_gradient, MatrixView<Real> input_gradient) {
  const auto previous = previous_.view(), states = states_.view();
  const auto x_gradient = x_.view();  // x itself is not needed any more
  cell_->begin_backward();
  for (std::size_t i = packing.steps(); i-- > 0;) {
    const std::size_t t = direction_ == Direction::kForward ? i : packing.steps() - 1 - i;
    const PreviousStep from = previous_step(packing, direction_, t);
    const auto carry = carry_.zeros(packing.active[t], state_width_);
    cell_->backward(packing.first_row[t], packing.step(previous, t), packing.step(states, t),
                    packing.step(state_gradient, t), packing.step(x_gradient, t), carry);
    if (from.continuing > 0) {
      kernels::add<Real>(carry.row_range(0, from.continuing), packing.step(state_gradient, from.step, from.continuing));
    }
  }
  cell_->accumulate(previous, x_gradient);
  kernels::accumulate_outer<Real>(input, x_gradient, gradient_.W_in);
  kernels::add_column_sums<Real>(x_gradient.columns(0, gradient_.b.size()), gradient_.b);
  kernels::multiply_transposed<Real>(x_gradient, weights_.W_in, input_gradient, kernels::Into::kAdd);
}

template class RecurrentLayer<float>;
template class RecurrentLayer<double>;

}  // namespace rnnsearch::layers

#include "layers/mlp_cells.h"

#include "layers/recurrent_cell.h"
#include "rnnsearch/kernels/cells.h"
#include "rnnsearch/kernels/gates.h"

namespace rnnsearch::layers {
namespace {

using kernels::Buffer;
using kernels::Into;
using kernels::PackedMatrix;
using kernels::Scratch;

template <class Real>
class MlpCell final : public RecurrentCell<Real> {
 public:
  MlpCell(const CellWeights<Real>& weights, const CellWeights<Real>& gradient)
      : RecurrentCell<Real>(weights, gradient) {}

  void begin_cell(Scratch::Frame&) override {
    hidden_.shape(rows(), weights_.W_2.rows);
    next_gradient_.shape(rows(), weights_.W_2.cols);
  }
  void pack(Scratch::Frame& frame) override {
    U_.pack(weights_.U, frame);
    W_2_.pack(weights_.W_2, frame);
  }
  void forward(const CellStep<Real>& step) override {
    const auto hidden = hidden_.view().row_range(step.first, step.x.rows);
    add_recurrent(step, U_, step.x, Into::kAdd);
    kernels::relu_forward<Real>(step.x);
    kernels::copy_rows<Real>(step.x, hidden);
    kernels::multiply<Real>(hidden, W_2_, step.next);
    kernels::add_to_rows<Real>(weights_.b_2, step.next);
  }
  void begin_backward(Scratch::Frame& frame) override {
    U_.pack_transposed(weights_.U, frame);
    W_2_.pack_transposed(weights_.W_2, frame);
  }
  void backward(const CellStep<Real>& step, MatrixView<Real> next_gradient,
                MatrixView<Real> previous_gradient) override {
    kernels::copy_rows<Real>(next_gradient, next_gradient_.view().row_range(step.first, step.x.rows));
    kernels::multiply<Real>(next_gradient, W_2_, step.x);
    kernels::relu_backward<Real>(hidden_.view().row_range(step.first, step.x.rows), step.x);
    recurrent_backward(step, step.x, U_, previous_gradient);
  }
  void accumulate(ConstMatrixView<Real> previous, ConstMatrixView<Real> x_gradient) override {
    kernels::accumulate_outer<Real>(dropped(previous), x_gradient, gradient_.U);
    kernels::accumulate_outer<Real>(hidden_.view(), next_gradient_.view(), gradient_.W_2);
    kernels::add_column_sums<Real>(next_gradient_.view(), gradient_.b_2);
  }

 private:
  using RecurrentCell<Real>::weights_, RecurrentCell<Real>::gradient_, RecurrentCell<Real>::rows;
  using RecurrentCell<Real>::add_recurrent, RecurrentCell<Real>::recurrent_backward, RecurrentCell<Real>::dropped;
  Buffer<Real> hidden_, next_gradient_;
  PackedMatrix<Real> U_, W_2_;
};

template <class Real>
class MlpEncoderCell final : public RecurrentCell<Real> {
 public:
  MlpEncoderCell(const CellWeights<Real>& weights, const CellWeights<Real>& gradient)
      : RecurrentCell<Real>(weights, gradient) {}

  void begin_cell(Scratch::Frame&) override {
    const std::size_t half = weights_.W_2.rows;
    for (auto* buffer : {&from_x_, &from_state_, &from_state_gradient_}) buffer->shape(rows(), half);
    sum_gradient_.shape(rows(), weights_.W_2.cols);
  }
  void pack(Scratch::Frame& frame) override {
    U_.pack(weights_.U, frame);
    W_2_.pack(weights_.W_2, frame);
    U_2_.pack(weights_.U_2, frame);
  }
  void forward(const CellStep<Real>& step) override {
    const auto& [first, continuing, x, previous, next] = step;
    const auto from_x = from_x_.view().row_range(first, x.rows);
    const auto from_state = from_state_.view().row_range(first, x.rows);
    kernels::relu_forward<Real>(x);
    kernels::copy_rows<Real>(x, from_x);
    add_recurrent(step, U_, from_state, Into::kOverwrite);
    kernels::add_to_rows<Real>(weights_.b_U, from_state);
    kernels::relu_forward<Real>(from_state);
    kernels::multiply<Real>(from_x, W_2_, next);
    kernels::multiply<Real>(from_state, U_2_, next, Into::kAdd);
    kernels::add_to_rows<Real>(weights_.b_2, next);
    kernels::tanh_forward<Real>(next);
  }
  void begin_backward(Scratch::Frame& frame) override {
    U_.pack_transposed(weights_.U, frame);
    W_2_.pack_transposed(weights_.W_2, frame);
    U_2_.pack_transposed(weights_.U_2, frame);
  }
  void backward(const CellStep<Real>& step, MatrixView<Real> next_gradient,
                MatrixView<Real> previous_gradient) override {
    const auto& [first, continuing, x, previous, next] = step;
    const auto from_state_gradient = from_state_gradient_.view().row_range(first, x.rows);
    kernels::tanh_backward<Real>(next, next_gradient);
    kernels::copy_rows<Real>(next_gradient, sum_gradient_.view().row_range(first, x.rows));
    kernels::multiply<Real>(next_gradient, W_2_, x);
    kernels::relu_backward<Real>(from_x_.view().row_range(first, x.rows), x);
    kernels::multiply<Real>(next_gradient, U_2_, from_state_gradient);
    kernels::relu_backward<Real>(from_state_.view().row_range(first, x.rows), from_state_gradient);
    recurrent_backward(step, from_state_gradient, U_, previous_gradient);
  }
  void accumulate(ConstMatrixView<Real> previous, ConstMatrixView<Real>) override {
    kernels::accumulate_outer<Real>(dropped(previous), from_state_gradient_.view(), gradient_.U);
    kernels::add_column_sums<Real>(from_state_gradient_.view(), gradient_.b_U);
    kernels::accumulate_outer<Real>(from_x_.view(), sum_gradient_.view(), gradient_.W_2);
    kernels::accumulate_outer<Real>(from_state_.view(), sum_gradient_.view(), gradient_.U_2);
    kernels::add_column_sums<Real>(sum_gradient_.view(), gradient_.b_2);
  }

 private:
  using RecurrentCell<Real>::weights_, RecurrentCell<Real>::gradient_, RecurrentCell<Real>::rows;
  using RecurrentCell<Real>::add_recurrent, RecurrentCell<Real>::recurrent_backward, RecurrentCell<Real>::dropped;
  Buffer<Real> from_x_, from_state_, from_state_gradient_, sum_gradient_;
  PackedMatrix<Real> U_, W_2_, U_2_;
};

}  // namespace

template <class Real>
std::unique_ptr<Cell<Real>> make_mlp_cell(CellKind kind, const CellWeights<Real>& weights,
                                          const CellWeights<Real>& gradient) {
  if (kind == CellKind::kMlp) return std::make_unique<MlpCell<Real>>(weights, gradient);
  return std::make_unique<MlpEncoderCell<Real>>(weights, gradient);
}

#define RNNSEARCH_INSTANTIATE(Real) \
  template std::unique_ptr<Cell<Real>> make_mlp_cell(CellKind, const CellWeights<Real>&, const CellWeights<Real>&);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::layers

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

class MlpCell final : public RecurrentCell {
 public:
  MlpCell(const CellWeights& weights, const CellWeights& gradient) : RecurrentCell(weights, gradient) {}

  void begin_cell(Scratch::Frame&) override {
    hidden_.shape(rows(), weights_.W_2.rows);
    next_gradient_.shape(rows(), weights_.W_2.cols);
  }
  void pack(Scratch::Frame& frame) override {
    U_.pack(weights_.U, &frame);
    W_2_.pack(weights_.W_2, &frame);
  }
  void forward(const CellStep& step) override {
    const auto hidden = hidden_.view().row_range(step.first, step.x.rows);
    add_recurrent(step, U_, step.x, Into::kAdd);
    kernels::relu_forward(step.x);
    kernels::copy_rows(step.x, hidden);
    kernels::multiply(hidden, W_2_, step.next);
    kernels::add_to_rows(weights_.b_2, step.next);
  }
  void begin_backward(Scratch::Frame& frame) override {
    U_.pack_transposed(weights_.U, &frame);
    W_2_.pack_transposed(weights_.W_2, &frame);
  }
  void backward(const CellStep& step, Matrix next_gradient, Matrix previous_gradient) override {
    kernels::copy_rows(next_gradient, next_gradient_.view().row_range(step.first, step.x.rows));
    kernels::multiply(next_gradient, W_2_, step.x);
    kernels::relu_backward({hidden_.view().row_range(step.first, step.x.rows), step.x});
    recurrent_backward(step, step.x, U_, previous_gradient);
  }
  void accumulate(ConstMatrix previous, ConstMatrix x_gradient) override {
    kernels::accumulate_outer(dropped(previous), x_gradient, gradient_.U);
    kernels::accumulate_outer(hidden_.view(), next_gradient_.view(), gradient_.W_2);
    kernels::add_column_sums(next_gradient_.view(), gradient_.b_2);
  }

 private:
  Buffer<Real> hidden_, next_gradient_;
  PackedMatrix U_, W_2_;
};

class MlpEncoderCell final : public RecurrentCell {
 public:
  MlpEncoderCell(const CellWeights& weights, const CellWeights& gradient) : RecurrentCell(weights, gradient) {}

  void begin_cell(Scratch::Frame&) override {
    const std::size_t half = weights_.W_2.rows;
    for (auto* buffer : {&from_x_, &from_state_, &from_state_gradient_}) buffer->shape(rows(), half);
    sum_gradient_.shape(rows(), weights_.W_2.cols);
  }
  void pack(Scratch::Frame& frame) override {
    U_.pack(weights_.U, &frame);
    W_2_.pack(weights_.W_2, &frame);
    U_2_.pack(weights_.U_2, &frame);
  }
  void forward(const CellStep& step) override {
    const auto& [first, continuing, x, previous, next] = step;
    const auto from_x = from_x_.view().row_range(first, x.rows);
    const auto from_state = from_state_.view().row_range(first, x.rows);
    kernels::relu_forward(x);
    kernels::copy_rows(x, from_x);
    add_recurrent(step, U_, from_state, Into::kOverwrite);
    kernels::add_to_rows(weights_.b_U, from_state);
    kernels::relu_forward(from_state);
    kernels::multiply(from_x, W_2_, next);
    kernels::multiply(from_state, U_2_, next, Into::kAdd);
    kernels::add_to_rows(weights_.b_2, next);
    kernels::tanh_forward(next);
  }
  void begin_backward(Scratch::Frame& frame) override {
    U_.pack_transposed(weights_.U, &frame);
    W_2_.pack_transposed(weights_.W_2, &frame);
    U_2_.pack_transposed(weights_.U_2, &frame);
  }
  void backward(const CellStep& step, Matrix next_gradient, Matrix previous_gradient) override {
    const auto& [first, continuing, x, previous, next] = step;
    const auto from_state_gradient = from_state_gradient_.view().row_range(first, x.rows);
    kernels::tanh_backward({next, next_gradient});
    kernels::copy_rows(next_gradient, sum_gradient_.view().row_range(first, x.rows));
    kernels::multiply(next_gradient, W_2_, x);
    kernels::relu_backward({from_x_.view().row_range(first, x.rows), x});
    kernels::multiply(next_gradient, U_2_, from_state_gradient);
    kernels::relu_backward({from_state_.view().row_range(first, x.rows), from_state_gradient});
    recurrent_backward(step, from_state_gradient, U_, previous_gradient);
  }
  void accumulate(ConstMatrix previous, ConstMatrix) override {
    kernels::accumulate_outer(dropped(previous), from_state_gradient_.view(), gradient_.U);
    kernels::add_column_sums(from_state_gradient_.view(), gradient_.b_U);
    kernels::accumulate_outer(from_x_.view(), sum_gradient_.view(), gradient_.W_2);
    kernels::accumulate_outer(from_state_.view(), sum_gradient_.view(), gradient_.U_2);
    kernels::add_column_sums(sum_gradient_.view(), gradient_.b_2);
  }

 private:
  Buffer<Real> from_x_, from_state_, from_state_gradient_, sum_gradient_;
  PackedMatrix U_, W_2_, U_2_;
};

}  // namespace

std::unique_ptr<Cell> make_mlp_cell(CellKind kind, const CellWeights& weights, const CellWeights& gradient) {
  if (kind == CellKind::kMlp) return std::make_unique<MlpCell>(weights, gradient);
  return std::make_unique<MlpEncoderCell>(weights, gradient);
}

}  // namespace rnnsearch::layers

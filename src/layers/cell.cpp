#include "rnnsearch/layers/cell.h"

#include "layers/normalised_cells.h"
#include "layers/recurrent_cell.h"
#include "rnnsearch/kernels/cells.h"
#include "rnnsearch/kernels/gates.h"

namespace rnnsearch::layers {
namespace {

using kernels::Buffer;
using kernels::Into;
using kernels::PackedMatrix;

template <class Real>
class TanhCell final : public RecurrentCell<Real> {
 public:
  TanhCell(const CellWeights<Real>& weights, const CellWeights<Real>& gradient)
      : RecurrentCell<Real>(weights, gradient) {}

  void begin_cell(std::size_t, std::size_t) override {}
  void forward(std::size_t first, MatrixView<Real> x, ConstMatrixView<Real> previous, MatrixView<Real> next) override {
    add_recurrent(first, previous, U_, x, Into::kAdd);
    kernels::tanh_forward<Real>(x);
    kernels::copy_rows<Real>(x, next);
  }
  void pack() override { U_.pack(weights_.U); }
  void begin_backward() override { U_.pack_transposed(weights_.U); }
  void backward(std::size_t first, ConstMatrixView<Real>, ConstMatrixView<Real> next, MatrixView<Real> next_gradient,
                MatrixView<Real> x_gradient, MatrixView<Real> previous_gradient) override {
    kernels::tanh_backward<Real>(next, next_gradient);
    kernels::copy_rows<Real>(next_gradient, x_gradient);
    recurrent_backward(first, x_gradient, U_, previous_gradient);
  }
  void accumulate(ConstMatrixView<Real> previous, ConstMatrixView<Real> x_gradient) override {
    kernels::accumulate_outer<Real>(dropped(previous), x_gradient, gradient_.U);
  }

 private:
  using RecurrentCell<Real>::weights_, RecurrentCell<Real>::gradient_;
  using RecurrentCell<Real>::add_recurrent, RecurrentCell<Real>::recurrent_backward, RecurrentCell<Real>::dropped;
  PackedMatrix<Real> U_;
};

template <class Real>
class GruCell final : public RecurrentCell<Real> {
 public:
  GruCell(const CellWeights<Real>& weights, const CellWeights<Real>& gradient)
      : RecurrentCell<Real>(weights, gradient) {}

  void begin_cell(std::size_t rows, std::size_t widest) override {
    for (auto* buffer : {&z_, &r_, &reset_, &candidate_}) buffer->shape(rows, n());
    recurrent_.shape(widest, 2 * n());
    recurrent_gradient_.shape(rows, 2 * n());
    scratch_.shape(widest, n());
  }
  void pack() override {
    U_gates_.pack(weights_.U_gates);
    U_.pack(weights_.U);
  }
  void forward(std::size_t first, MatrixView<Real> x, ConstMatrixView<Real> previous, MatrixView<Real> next) override {
    const std::size_t R = x.rows;
    const auto recurrent = recurrent_.view().row_range(0, R), through_reset = scratch_.view().row_range(0, R);
    const auto z = z_.view().row_range(first, R), r = r_.view().row_range(first, R);
    const auto reset = reset_.view().row_range(first, R), candidate = candidate_.view().row_range(first, R);
    add_recurrent(first, previous, U_gates_, recurrent, Into::kOverwrite);
    kernels::gates_forward<Real>({x, {}, recurrent, dropped(first, previous), z, r, reset});
    kernels::multiply<Real>(reset, U_, through_reset);
    kernels::state_forward<Real>({x, {}, through_reset, z, previous, candidate, next});
  }
  void begin_backward() override {
    U_gates_.pack_transposed(weights_.U_gates);
    U_.pack_transposed(weights_.U);
  }
  void backward(std::size_t first, ConstMatrixView<Real> previous, ConstMatrixView<Real>,
                MatrixView<Real> next_gradient, MatrixView<Real> x_gradient,
                MatrixView<Real> previous_gradient) override {
    const std::size_t R = x_gradient.rows;
    const auto recurrent_gradient = recurrent_gradient_.view().row_range(first, R);
    const auto reset_gradient = scratch_.view().row_range(0, R), through_U = dropped_gradient(previous_gradient);
    kernels::state_backward<Real>({next_gradient, z_.view().row_range(first, R), candidate_.view().row_range(first, R),
                                   previous, x_gradient, previous_gradient});
    kernels::multiply<Real>(x_gradient.columns(0, n()), U_, reset_gradient);
    kernels::gates_backward<Real>({reset_gradient, r_.view().row_range(first, R), dropped(first, previous), x_gradient,
                                   recurrent_gradient, through_U});
    kernels::multiply<Real>(recurrent_gradient, U_gates_, through_U, Into::kAdd);
    drop_backward(first, previous_gradient);
  }
  void accumulate(ConstMatrixView<Real> previous, ConstMatrixView<Real> x_gradient) override {
    kernels::accumulate_outer<Real>(dropped(previous), recurrent_gradient_.view(), gradient_.U_gates);
    kernels::accumulate_outer<Real>(reset_.view(), x_gradient.columns(0, n()), gradient_.U);
  }

 private:
  using RecurrentCell<Real>::weights_, RecurrentCell<Real>::gradient_, RecurrentCell<Real>::n;
  using RecurrentCell<Real>::add_recurrent, RecurrentCell<Real>::dropped;
  using RecurrentCell<Real>::dropped_gradient, RecurrentCell<Real>::drop_backward;
  Buffer<Real> z_, r_, reset_, candidate_, recurrent_, recurrent_gradient_, scratch_;
  PackedMatrix<Real> U_gates_, U_;
};

template <class Real>
class ResetAfterCell final : public RecurrentCell<Real> {
 public:
  ResetAfterCell(const CellWeights<Real>& weights, const CellWeights<Real>& gradient)
      : RecurrentCell<Real>(weights, gradient) {}

  void begin_cell(std::size_t rows, std::size_t) override {
    for (auto* buffer : {&z_, &r_, &candidate_}) buffer->shape(rows, n());
    u_.shape(rows, 3 * n());
  }
  void pack() override { U_.pack(weights_.U); }
  void forward(std::size_t first, MatrixView<Real> x, ConstMatrixView<Real> previous, MatrixView<Real> next) override {
    const std::size_t R = x.rows;
    const auto u = u_.view().row_range(first, R);
    add_recurrent(first, previous, U_, u, Into::kOverwrite);
    kernels::add_to_rows<Real>(weights_.b_U, u.columns(0, weights_.b_U.size()));
    kernels::reset_after_forward<Real>({x, u, previous, z_.view().row_range(first, R), r_.view().row_range(first, R),
                                        candidate_.view().row_range(first, R), next});
  }
  void begin_backward() override { U_.pack_transposed(weights_.U); }
  void backward(std::size_t first, ConstMatrixView<Real> previous, ConstMatrixView<Real>,
                MatrixView<Real> next_gradient, MatrixView<Real> x_gradient,
                MatrixView<Real> previous_gradient) override {
    const std::size_t R = x_gradient.rows;
    const auto u = u_.view().row_range(first, R);  // its gradient takes its place, element by element
    kernels::reset_after_backward<Real>({next_gradient, u, previous, z_.view().row_range(first, R),
                                         r_.view().row_range(first, R), candidate_.view().row_range(first, R),
                                         x_gradient, u, previous_gradient});
    recurrent_backward(first, u, U_, previous_gradient);
  }
  void accumulate(ConstMatrixView<Real> previous, ConstMatrixView<Real>) override {
    const auto u_gradient = u_.view();
    kernels::accumulate_outer<Real>(dropped(previous), u_gradient, gradient_.U);
    kernels::add_column_sums<Real>(u_gradient.columns(0, gradient_.b_U.size()), gradient_.b_U);
  }

 private:
  using RecurrentCell<Real>::weights_, RecurrentCell<Real>::gradient_, RecurrentCell<Real>::n;
  using RecurrentCell<Real>::add_recurrent, RecurrentCell<Real>::recurrent_backward, RecurrentCell<Real>::dropped;
  Buffer<Real> z_, r_, candidate_, u_;
  PackedMatrix<Real> U_;
};

template <class Real>
class LstmCell final : public RecurrentCell<Real> {
 public:
  LstmCell(const CellWeights<Real>& weights, const CellWeights<Real>& gradient)
      : RecurrentCell<Real>(weights, gradient) {}

  void begin_cell(std::size_t rows, std::size_t) override {
    gates_.shape(rows, 4 * n());
    cell_tanh_.shape(rows, n());
  }
  void pack() override { U_.pack(weights_.U); }
  void forward(std::size_t first, MatrixView<Real> x, ConstMatrixView<Real> previous, MatrixView<Real> next) override {
    const auto gates = gates_.view().row_range(first, x.rows);
    kernels::copy_rows<Real>(x, gates);
    add_recurrent(first, previous, U_, gates, Into::kAdd);
    kernels::lstm_forward<Real>({gates, previous.columns(n(), n()), next.columns(n(), n()),
                                 cell_tanh_.view().row_range(first, x.rows), next.columns(0, n())});
  }
  void begin_backward() override { U_.pack_transposed(weights_.U); }
  void backward(std::size_t first, ConstMatrixView<Real> previous, ConstMatrixView<Real>,
                MatrixView<Real> next_gradient, MatrixView<Real> x_gradient,
                MatrixView<Real> previous_gradient) override {
    const std::size_t R = x_gradient.rows;
    kernels::lstm_backward<Real>({gates_.view().row_range(first, R), previous.columns(n(), n()),
                                  cell_tanh_.view().row_range(first, R), next_gradient.columns(0, n()),
                                  next_gradient.columns(n(), n()), x_gradient, previous_gradient.columns(n(), n())});
    recurrent_backward(first, x_gradient, U_, previous_gradient);
  }
  void accumulate(ConstMatrixView<Real> previous, ConstMatrixView<Real> x_gradient) override {
    kernels::accumulate_outer<Real>(dropped(previous), x_gradient, gradient_.U);
  }

 private:
  using RecurrentCell<Real>::weights_, RecurrentCell<Real>::gradient_, RecurrentCell<Real>::n;
  using RecurrentCell<Real>::add_recurrent, RecurrentCell<Real>::recurrent_backward, RecurrentCell<Real>::dropped;
  Buffer<Real> gates_, cell_tanh_;
  PackedMatrix<Real> U_;
};

template <class Real>
class MlpCell final : public RecurrentCell<Real> {
 public:
  MlpCell(const CellWeights<Real>& weights, const CellWeights<Real>& gradient)
      : RecurrentCell<Real>(weights, gradient) {}

  void begin_cell(std::size_t rows, std::size_t) override {
    hidden_.shape(rows, weights_.W_2.rows);
    next_gradient_.shape(rows, weights_.W_2.cols);
  }
  void pack() override {
    U_.pack(weights_.U);
    W_2_.pack(weights_.W_2);
  }
  void forward(std::size_t first, MatrixView<Real> x, ConstMatrixView<Real> previous, MatrixView<Real> next) override {
    const auto hidden = hidden_.view().row_range(first, x.rows);
    add_recurrent(first, previous, U_, x, Into::kAdd);
    kernels::relu_forward<Real>(x);
    kernels::copy_rows<Real>(x, hidden);
    kernels::multiply<Real>(hidden, W_2_, next);
    kernels::add_to_rows<Real>(weights_.b_2, next);
  }
  void begin_backward() override {
    U_.pack_transposed(weights_.U);
    W_2_.pack_transposed(weights_.W_2);
  }
  void backward(std::size_t first, ConstMatrixView<Real>, ConstMatrixView<Real>, MatrixView<Real> next_gradient,
                MatrixView<Real> x_gradient, MatrixView<Real> previous_gradient) override {
    kernels::copy_rows<Real>(next_gradient, next_gradient_.view().row_range(first, x_gradient.rows));
    kernels::multiply<Real>(next_gradient, W_2_, x_gradient);
    kernels::relu_backward<Real>(hidden_.view().row_range(first, x_gradient.rows), x_gradient);
    recurrent_backward(first, x_gradient, U_, previous_gradient);
  }
  void accumulate(ConstMatrixView<Real> previous, ConstMatrixView<Real> x_gradient) override {
    kernels::accumulate_outer<Real>(dropped(previous), x_gradient, gradient_.U);
    kernels::accumulate_outer<Real>(hidden_.view(), next_gradient_.view(), gradient_.W_2);
    kernels::add_column_sums<Real>(next_gradient_.view(), gradient_.b_2);
  }

 private:
  using RecurrentCell<Real>::weights_, RecurrentCell<Real>::gradient_;
  using RecurrentCell<Real>::add_recurrent, RecurrentCell<Real>::recurrent_backward, RecurrentCell<Real>::dropped;
  Buffer<Real> hidden_, next_gradient_;
  PackedMatrix<Real> U_, W_2_;
};

template <class Real>
class MlpEncoderCell final : public RecurrentCell<Real> {
 public:
  MlpEncoderCell(const CellWeights<Real>& weights, const CellWeights<Real>& gradient)
      : RecurrentCell<Real>(weights, gradient) {}

  void begin_cell(std::size_t rows, std::size_t) override {
    const std::size_t half = weights_.W_2.rows;
    for (auto* buffer : {&from_x_, &from_state_, &from_state_gradient_}) buffer->shape(rows, half);
    sum_gradient_.shape(rows, weights_.W_2.cols);
  }
  void pack() override {
    U_.pack(weights_.U);
    W_2_.pack(weights_.W_2);
    U_2_.pack(weights_.U_2);
  }
  void forward(std::size_t first, MatrixView<Real> x, ConstMatrixView<Real> previous, MatrixView<Real> next) override {
    const auto from_x = from_x_.view().row_range(first, x.rows);
    const auto from_state = from_state_.view().row_range(first, x.rows);
    kernels::relu_forward<Real>(x);
    kernels::copy_rows<Real>(x, from_x);
    add_recurrent(first, previous, U_, from_state, Into::kOverwrite);
    kernels::add_to_rows<Real>(weights_.b_U, from_state);
    kernels::relu_forward<Real>(from_state);
    kernels::multiply<Real>(from_x, W_2_, next);
    kernels::multiply<Real>(from_state, U_2_, next, Into::kAdd);
    kernels::add_to_rows<Real>(weights_.b_2, next);
    kernels::tanh_forward<Real>(next);
  }
  void begin_backward() override {
    U_.pack_transposed(weights_.U);
    W_2_.pack_transposed(weights_.W_2);
    U_2_.pack_transposed(weights_.U_2);
  }
  void backward(std::size_t first, ConstMatrixView<Real>, ConstMatrixView<Real> next, MatrixView<Real> next_gradient,
                MatrixView<Real> x_gradient, MatrixView<Real> previous_gradient) override {
    const std::size_t R = x_gradient.rows;
    const auto from_state_gradient = from_state_gradient_.view().row_range(first, R);
    kernels::tanh_backward<Real>(next, next_gradient);
    kernels::copy_rows<Real>(next_gradient, sum_gradient_.view().row_range(first, R));
    kernels::multiply<Real>(next_gradient, W_2_, x_gradient);
    kernels::relu_backward<Real>(from_x_.view().row_range(first, R), x_gradient);
    kernels::multiply<Real>(next_gradient, U_2_, from_state_gradient);
    kernels::relu_backward<Real>(from_state_.view().row_range(first, R), from_state_gradient);
    recurrent_backward(first, from_state_gradient, U_, previous_gradient);
  }
  void accumulate(ConstMatrixView<Real> previous, ConstMatrixView<Real>) override {
    kernels::accumulate_outer<Real>(dropped(previous), from_state_gradient_.view(), gradient_.U);
    kernels::add_column_sums<Real>(from_state_gradient_.view(), gradient_.b_U);
    kernels::accumulate_outer<Real>(from_x_.view(), sum_gradient_.view(), gradient_.W_2);
    kernels::accumulate_outer<Real>(from_state_.view(), sum_gradient_.view(), gradient_.U_2);
    kernels::add_column_sums<Real>(sum_gradient_.view(), gradient_.b_2);
  }

 private:
  using RecurrentCell<Real>::weights_, RecurrentCell<Real>::gradient_;
  using RecurrentCell<Real>::add_recurrent, RecurrentCell<Real>::recurrent_backward, RecurrentCell<Real>::dropped;
  Buffer<Real> from_x_, from_state_, from_state_gradient_, sum_gradient_;
  PackedMatrix<Real> U_, W_2_, U_2_;
};

}  // namespace

std::size_t cell_input_width(CellKind kind, std::size_t n) {
  switch (kind) {
    case CellKind::kTanh:
    case CellKind::kNormalisedTanh:
      return n;
    case CellKind::kGru:
    case CellKind::kGruResetAfter:
    case CellKind::kNormalisedGru:
      return 3 * n;
    case CellKind::kLstm:
    case CellKind::kNormalisedLstm:
      return 4 * n;
    case CellKind::kMlp:
    case CellKind::kMlpEncoder:
      return n / 2;
  }
  return n;
}

std::size_t cell_state_width(CellKind kind, std::size_t n) {
  return kind == CellKind::kLstm || kind == CellKind::kNormalisedLstm ? 2 * n : n;
}

template <class Real>
std::unique_ptr<Cell<Real>> make_cell(CellKind kind, const CellWeights<Real>& weights,
                                      const CellWeights<Real>& gradient) {
  switch (kind) {
    case CellKind::kTanh:
      return std::make_unique<TanhCell<Real>>(weights, gradient);
    case CellKind::kGru:
      return std::make_unique<GruCell<Real>>(weights, gradient);
    case CellKind::kGruResetAfter:
      return std::make_unique<ResetAfterCell<Real>>(weights, gradient);
    case CellKind::kLstm:
      return std::make_unique<LstmCell<Real>>(weights, gradient);
    case CellKind::kMlp:
      return std::make_unique<MlpCell<Real>>(weights, gradient);
    case CellKind::kMlpEncoder:
      return std::make_unique<MlpEncoderCell<Real>>(weights, gradient);
    case CellKind::kNormalisedTanh:
    case CellKind::kNormalisedGru:
    case CellKind::kNormalisedLstm:
      return make_normalised_cell<Real>(kind, weights, gradient);
  }
  return nullptr;
}

#define RNNSEARCH_INSTANTIATE(Real) \
  template std::unique_ptr<Cell<Real>> make_cell(CellKind, const CellWeights<Real>&, const CellWeights<Real>&);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::layers

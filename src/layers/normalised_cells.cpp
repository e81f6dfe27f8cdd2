#include "layers/normalised_cells.h"

#include "layers/recurrent_cell.h"
#include "rnnsearch/kernels/cells.h"
#include "rnnsearch/kernels/gates.h"

namespace rnnsearch::layers {
namespace {

using kernels::Buffer;
using kernels::Into;
using kernels::PackedMatrix;

// Equation 4: the sum of both products is normalised together.
template <class Real>
class NormalisedTanhCell final : public RecurrentCell<Real> {
 public:
  NormalisedTanhCell(const CellWeights<Real>& weights, const CellWeights<Real>& gradient)
      : RecurrentCell<Real>(weights, gradient),
        normalisation_(weights.x_normalisation, gradient.x_normalisation, {weights.U.rows}) {}

  void begin_cell(std::size_t rows, std::size_t) override { normalisation_.begin(rows); }
  void pack() override { U_.pack(weights_.U); }
  void forward(std::size_t first, MatrixView<Real> x, ConstMatrixView<Real> previous, MatrixView<Real> next) override {
    add_recurrent(first, previous, U_, x, Into::kAdd);
    normalisation_.forward(first, x);
    kernels::tanh_forward<Real>(x);
    kernels::copy_rows<Real>(x, next);
  }
  void begin_backward() override { U_.pack_transposed(weights_.U); }
  void backward(std::size_t first, ConstMatrixView<Real>, ConstMatrixView<Real> next, MatrixView<Real> next_gradient,
                MatrixView<Real> x_gradient, MatrixView<Real> previous_gradient) override {
    kernels::tanh_backward<Real>(next, next_gradient);
    kernels::copy_rows<Real>(next_gradient, x_gradient);
    normalisation_.backward(first, x_gradient);
    recurrent_backward(first, x_gradient, U_, previous_gradient);
  }
  void accumulate(ConstMatrixView<Real> previous, ConstMatrixView<Real> x_gradient) override {
    kernels::accumulate_outer<Real>(dropped(previous), x_gradient, gradient_.U);
    normalisation_.accumulate();
  }

 private:
  using RecurrentCell<Real>::weights_, RecurrentCell<Real>::gradient_;
  using RecurrentCell<Real>::add_recurrent, RecurrentCell<Real>::recurrent_backward, RecurrentCell<Real>::dropped;
  LayerNormalisation<Real> normalisation_;
  PackedMatrix<Real> U_;
};

// Equations 20 to 22.
template <class Real>
class NormalisedGruCell final : public RecurrentCell<Real> {
 public:
  NormalisedGruCell(const CellWeights<Real>& weights, const CellWeights<Real>& gradient)
      : RecurrentCell<Real>(weights, gradient),
        of_x_(weights.x_normalisation, gradient.x_normalisation, {weights.U.rows, 2 * weights.U.rows}),
        of_u_(weights.U_normalisation, gradient.U_normalisation, {weights.U.rows, 2 * weights.U.rows}) {}

  void begin_cell(std::size_t rows, std::size_t) override {
    for (auto* buffer : {&z_, &r_, &candidate_}) buffer->shape(rows, n());
    for (auto* buffer : {&u_, &u_gradient_}) buffer->shape(rows, 3 * n());
    of_x_.begin(rows);
    of_u_.begin(rows);
  }
  void pack() override { U_.pack(weights_.U); }
  void forward(std::size_t first, MatrixView<Real> x, ConstMatrixView<Real> previous, MatrixView<Real> next) override {
    const std::size_t R = x.rows;
    const auto u = u_.view().row_range(first, R);
    add_recurrent(first, previous, U_, u, Into::kOverwrite);
    of_x_.forward(first, x);
    of_u_.forward(first, u);
    kernels::reset_after_forward<Real>({x, u, previous, z_.view().row_range(first, R), r_.view().row_range(first, R),
                                        candidate_.view().row_range(first, R), next});
  }
  void begin_backward() override { U_.pack_transposed(weights_.U); }
  void backward(std::size_t first, ConstMatrixView<Real> previous, ConstMatrixView<Real>,
                MatrixView<Real> next_gradient, MatrixView<Real> x_gradient,
                MatrixView<Real> previous_gradient) override {
    const std::size_t R = x_gradient.rows;
    const auto u_gradient = u_gradient_.view().row_range(first, R);
    kernels::reset_after_backward<Real>({next_gradient, u_.view().row_range(first, R), previous,
                                         z_.view().row_range(first, R), r_.view().row_range(first, R),
                                         candidate_.view().row_range(first, R), x_gradient, u_gradient,
                                         previous_gradient});
    of_x_.backward(first, x_gradient);
    of_u_.backward(first, u_gradient);
    recurrent_backward(first, u_gradient, U_, previous_gradient);
  }
  void accumulate(ConstMatrixView<Real> previous, ConstMatrixView<Real>) override {
    kernels::accumulate_outer<Real>(dropped(previous), u_gradient_.view(), gradient_.U);
    of_x_.accumulate();
    of_u_.accumulate();
  }

 private:
  using RecurrentCell<Real>::weights_, RecurrentCell<Real>::gradient_, RecurrentCell<Real>::n;
  using RecurrentCell<Real>::add_recurrent, RecurrentCell<Real>::recurrent_backward, RecurrentCell<Real>::dropped;
  LayerNormalisation<Real> of_x_, of_u_;
  Buffer<Real> z_, r_, candidate_, u_, u_gradient_;
  PackedMatrix<Real> U_;
};

// The LSTM of the appendix. The bias that the paper adds to the two normalised sums is part of their normalisations.
template <class Real>
class NormalisedLstmCell final : public RecurrentCell<Real> {
 public:
  NormalisedLstmCell(const CellWeights<Real>& weights, const CellWeights<Real>& gradient)
      : RecurrentCell<Real>(weights, gradient),
        of_x_(weights.x_normalisation, gradient.x_normalisation, {4 * weights.U.rows}),
        of_u_(weights.U_normalisation, gradient.U_normalisation, {4 * weights.U.rows}),
        of_c_(weights.c_normalisation, gradient.c_normalisation, {weights.U.rows}) {}

  void begin_cell(std::size_t rows, std::size_t) override {
    for (auto* buffer : {&gates_, &u_gradient_}) buffer->shape(rows, 4 * n());
    c_tanh_.shape(rows, n());
    of_x_.begin(rows);
    of_u_.begin(rows);
    of_c_.begin(rows);
  }
  void pack() override { U_.pack(weights_.U); }
  void forward(std::size_t first, MatrixView<Real> x, ConstMatrixView<Real> previous, MatrixView<Real> next) override {
    const auto gates = gates_.view().row_range(first, x.rows), c_tanh = c_tanh_.view().row_range(first, x.rows);
    const auto c = next.columns(n(), n());
    add_recurrent(first, previous, U_, gates, Into::kOverwrite);
    of_u_.forward(first, gates);
    of_x_.forward(first, x);
    kernels::add<Real>(x, gates);
    kernels::lstm_forward<Real>({gates, previous.columns(n(), n()), c, {}, {}});
    kernels::copy_rows<Real>(c, c_tanh);
    of_c_.forward(first, c_tanh);
    kernels::lstm_output_forward<Real>({gates, c_tanh, next.columns(0, n())});
  }
  void begin_backward() override { U_.pack_transposed(weights_.U); }
  void backward(std::size_t first, ConstMatrixView<Real> previous, ConstMatrixView<Real>,
                MatrixView<Real> next_gradient, MatrixView<Real> x_gradient,
                MatrixView<Real> previous_gradient) override {
    const std::size_t R = x_gradient.rows;
    const auto gates = gates_.view().row_range(first, R), u_gradient = u_gradient_.view().row_range(first, R);
    const auto h_gradient = next_gradient.columns(0, n()), c_gradient = next_gradient.columns(n(), n());
    // The gradient of h is overwritten element by element with that of the argument of tanh.
    kernels::lstm_output_backward<Real>(
        {gates, c_tanh_.view().row_range(first, R), h_gradient, x_gradient, h_gradient});
    of_c_.backward(first, h_gradient);
    kernels::add<Real>(h_gradient, c_gradient);
    kernels::lstm_backward<Real>(
        {gates, previous.columns(n(), n()), {}, {}, c_gradient, x_gradient, previous_gradient.columns(n(), n())});
    kernels::copy_rows<Real>(x_gradient, u_gradient);
    of_x_.backward(first, x_gradient);
    of_u_.backward(first, u_gradient);
    recurrent_backward(first, u_gradient, U_, previous_gradient);
  }
  void accumulate(ConstMatrixView<Real> previous, ConstMatrixView<Real>) override {
    kernels::accumulate_outer<Real>(dropped(previous), u_gradient_.view(), gradient_.U);
    of_x_.accumulate();
    of_u_.accumulate();
    of_c_.accumulate();
  }

 private:
  using RecurrentCell<Real>::weights_, RecurrentCell<Real>::gradient_, RecurrentCell<Real>::n;
  using RecurrentCell<Real>::add_recurrent, RecurrentCell<Real>::recurrent_backward, RecurrentCell<Real>::dropped;
  LayerNormalisation<Real> of_x_, of_u_, of_c_;
  Buffer<Real> gates_, u_gradient_, c_tanh_;
  PackedMatrix<Real> U_;
};

}  // namespace

template <class Real>
std::unique_ptr<Cell<Real>> make_normalised_cell(CellKind kind, const CellWeights<Real>& weights,
                                                 const CellWeights<Real>& gradient) {
  switch (kind) {
    case CellKind::kNormalisedTanh:
      return std::make_unique<NormalisedTanhCell<Real>>(weights, gradient);
    case CellKind::kNormalisedGru:
      return std::make_unique<NormalisedGruCell<Real>>(weights, gradient);
    case CellKind::kNormalisedLstm:
      return std::make_unique<NormalisedLstmCell<Real>>(weights, gradient);
    default:
      return nullptr;
  }
}

#define RNNSEARCH_INSTANTIATE(Real)                                                             \
  template std::unique_ptr<Cell<Real>> make_normalised_cell(CellKind, const CellWeights<Real>&, \
                                                            const CellWeights<Real>&);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::layers

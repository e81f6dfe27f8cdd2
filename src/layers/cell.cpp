#include "rnnsearch/layers/cell.h"

#include <optional>

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

// A layer normalisation, or nothing if the weights have none.
class Normalisation {
 public:
  Normalisation(const NormalisationWeights& weights, const NormalisationWeights& gradient,
                std::vector<std::size_t> groups) {
    if (!weights.g.empty()) layer_.emplace(weights, gradient, std::move(groups));
  }

  explicit operator bool() const { return layer_.has_value(); }
  void begin(std::size_t rows) {
    if (layer_) layer_->begin(rows);
  }
  void forward(std::size_t first, Matrix a) {
    if (layer_) layer_->forward(first, a);
  }
  void backward(std::size_t first, Matrix gradient) {
    if (layer_) layer_->backward(first, gradient);
  }
  void accumulate() const {
    if (layer_) layer_->accumulate();
  }

 private:
  std::optional<LayerNormalisation> layer_;
};

// With normalisation, equation 4: the sum of both products is normalised together.
class TanhCell final : public RecurrentCell {
 public:
  TanhCell(const CellWeights& weights, const CellWeights& gradient)
      : RecurrentCell(weights, gradient),
        normalisation_(weights.x_normalisation, gradient.x_normalisation, {weights.U.rows}) {}

  void begin_cell(Scratch::Frame&) override { normalisation_.begin(rows()); }
  void pack(Scratch::Frame& frame) override { U_.pack(weights_.U, &frame); }
  void forward(const CellStep& step) override {
    add_recurrent(step, U_, step.x, Into::kAdd);
    normalisation_.forward(step.first, step.x);
    kernels::tanh_forward(step.x);
    kernels::copy_rows(step.x, step.next);
  }
  void begin_backward(Scratch::Frame& frame) override { U_.pack_transposed(weights_.U, &frame); }
  void backward(const CellStep& step, Matrix next_gradient, Matrix previous_gradient) override {
    kernels::tanh_backward({step.x, next_gradient});
    kernels::copy_rows(next_gradient, step.x);
    normalisation_.backward(step.first, step.x);
    recurrent_backward(step, step.x, U_, previous_gradient);
  }
  void accumulate(ConstMatrix previous, ConstMatrix x_gradient) override {
    kernels::accumulate_outer(dropped(previous), x_gradient, gradient_.U);
    normalisation_.accumulate();
  }

 private:
  Normalisation normalisation_;
  PackedMatrix U_;
};

// h~ | z | r stay in x.
class GruCell final : public RecurrentCell {
 public:
  GruCell(const CellWeights& weights, const CellWeights& gradient) : RecurrentCell(weights, gradient) {}

  void begin_cell(Scratch::Frame& frame) override {
    recurrent_ = frame.matrix(widest(), 2 * n());
    reset_ = frame.matrix(widest(), n());
    through_reset_ = frame.matrix(widest(), n());
  }
  void pack(Scratch::Frame& frame) override {
    U_gates_.pack(weights_.U_gates, &frame);
    U_.pack(weights_.U, &frame);
  }
  void forward(const CellStep& step) override {
    const auto& [first, continuing, x, previous, next] = step;
    const auto recurrent = recurrent_.row_range(0, x.rows), through_reset = through_reset_.row_range(0, x.rows);
    const auto reset = reset_.row_range(0, x.rows), z = x.columns(n(), n());
    add_recurrent(step, U_gates_, recurrent, Into::kOverwrite);
    kernels::gates_forward({x, recurrent, dropped(first, previous), z, x.columns(2 * n(), n()), reset});
    kernels::zero_rows(through_reset.row_range(continuing, x.rows - continuing));
    kernels::multiply(reset.row_range(0, continuing), U_, through_reset.row_range(0, continuing));
    kernels::state_forward({x, through_reset, z, previous, x.columns(0, n()), next});
  }
  void begin_backward(Scratch::Frame& frame) override {
    U_gates_.pack_transposed(weights_.U_gates, &frame);
    U_.pack_transposed(weights_.U, &frame);
    reset_ = frame.matrix(rows(), n());
    through_reset_ = frame.matrix(widest(), n());
  }
  void backward(const CellStep& step, Matrix next_gradient, Matrix previous_gradient) override {
    const auto& [first, continuing, x, previous, next] = step;
    const auto reset_gradient = through_reset_.row_range(0, x.rows), candidate = x.columns(0, n());
    const auto through_U = dropped_gradient(previous_gradient);
    kernels::state_backward({next_gradient, x.columns(n(), n()), candidate, previous, x, previous_gradient});
    kernels::zero_rows(reset_gradient.row_range(continuing, x.rows - continuing));
    kernels::multiply(candidate.row_range(0, continuing), U_, reset_gradient.row_range(0, continuing));
    kernels::gates_backward({reset_gradient, x.columns(2 * n(), n()), dropped(first, previous), x, through_U,
                             reset_.row_range(first, x.rows)});
    add_recurrent_gradient(step, x.columns(n(), 2 * n()), U_gates_, through_U);
    drop_backward(first, previous_gradient);
  }
  void accumulate(ConstMatrix previous, ConstMatrix x_gradient) override {
    kernels::accumulate_outer(dropped(previous), x_gradient.columns(n(), 2 * n()), gradient_.U_gates);
    kernels::accumulate_outer(reset_, x_gradient.columns(0, n()), gradient_.U);
  }

 private:
  Matrix recurrent_, reset_, through_reset_;
  PackedMatrix U_gates_, U_;
};

// With normalisation, equations 20 to 22. h~ | z | r stay in x.
class ResetAfterCell final : public RecurrentCell {
 public:
  ResetAfterCell(const CellWeights& weights, const CellWeights& gradient)
      : RecurrentCell(weights, gradient),
        of_x_(weights.x_normalisation, gradient.x_normalisation, {weights.U.rows, 2 * weights.U.rows}),
        of_u_(weights.U_normalisation, gradient.U_normalisation, {weights.U.rows, 2 * weights.U.rows}) {}

  void begin_cell(Scratch::Frame&) override {
    u_.shape(rows(), 3 * n());
    of_x_.begin(rows());
    of_u_.begin(rows());
  }
  void pack(Scratch::Frame& frame) override { U_.pack(weights_.U, &frame); }
  void forward(const CellStep& step) override {
    const auto& [first, continuing, x, previous, next] = step;
    const auto u = u_.view().row_range(first, x.rows);
    add_recurrent(step, U_, u, Into::kOverwrite);
    kernels::add_to_rows(weights_.b_U, u.columns(0, weights_.b_U.size()));
    of_x_.forward(first, x);
    of_u_.forward(first, u);
    kernels::reset_after_forward(
        {x, u, previous, x.columns(n(), n()), x.columns(2 * n(), n()), x.columns(0, n()), next});
  }
  void begin_backward(Scratch::Frame& frame) override { U_.pack_transposed(weights_.U, &frame); }
  void backward(const CellStep& step, Matrix next_gradient, Matrix previous_gradient) override {
    const auto& [first, continuing, x, previous, next] = step;
    const auto u = u_.view().row_range(first, x.rows);  // its gradient takes its place, element by element
    kernels::reset_after_backward({next_gradient, u, previous, x.columns(n(), n()), x.columns(2 * n(), n()),
                                   x.columns(0, n()), x, u, previous_gradient});
    of_x_.backward(first, x);
    of_u_.backward(first, u);
    recurrent_backward(step, u, U_, previous_gradient);
  }
  void accumulate(ConstMatrix previous, ConstMatrix) override {
    const auto u_gradient = u_.view();
    kernels::accumulate_outer(dropped(previous), u_gradient, gradient_.U);
    kernels::add_column_sums(u_gradient.columns(0, gradient_.b_U.size()), gradient_.b_U);
    of_x_.accumulate();
    of_u_.accumulate();
  }

 private:
  Normalisation of_x_, of_u_;
  Buffer<Real> u_;
  PackedMatrix U_;
};

// With normalisation, the LSTM of the paper's appendix; the bias that it adds to the two normalised sums is part of
// their normalisations. g | i | f | o stay in x.
class LstmCell final : public RecurrentCell {
 public:
  LstmCell(const CellWeights& weights, const CellWeights& gradient)
      : RecurrentCell(weights, gradient),
        of_x_(weights.x_normalisation, gradient.x_normalisation, {4 * weights.U.rows}),
        of_u_(weights.U_normalisation, gradient.U_normalisation, {4 * weights.U.rows}),
        of_c_(weights.c_normalisation, gradient.c_normalisation, {weights.U.rows}) {}

  void begin_cell(Scratch::Frame& frame) override {
    c_tanh_.shape(rows(), n());
    if (of_u_) u_ = frame.matrix(widest(), 4 * n());
    for (auto* normalisation : {&of_x_, &of_u_, &of_c_}) normalisation->begin(rows());
  }
  void pack(Scratch::Frame& frame) override { U_.pack(weights_.U, &frame); }
  void forward(const CellStep& step) override {
    const auto& [first, continuing, x, previous, next] = step;
    const auto h = next.columns(0, n()), c = next.columns(n(), n());
    const auto c_before = previous.columns(n(), n());
    const auto c_tanh = c_tanh_.view().row_range(first, x.rows);
    if (!of_u_) {
      add_recurrent(step, U_, x, Into::kAdd);
      kernels::lstm_forward({x, c_before, c, c_tanh, h});
      return;
    }
    const auto u = u_.row_range(0, x.rows);
    add_recurrent(step, U_, u, Into::kOverwrite);
    of_u_.forward(first, u);
    of_x_.forward(first, x);
    kernels::add(u, x);
    kernels::lstm_forward({x, c_before, c, {}, {}});
    kernels::copy_rows(c, c_tanh);
    of_c_.forward(first, c_tanh);
    kernels::lstm_output_forward({x, c_tanh, h});
  }
  void begin_backward(Scratch::Frame& frame) override {
    U_.pack_transposed(weights_.U, &frame);
    if (of_u_) u_ = frame.matrix(rows(), 4 * n());  // the gradient of h' U
  }
  void backward(const CellStep& step, Matrix next_gradient, Matrix previous_gradient) override {
    const auto& [first, continuing, x, previous, next] = step;
    const auto h_gradient = next_gradient.columns(0, n()), c_gradient = next_gradient.columns(n(), n());
    const auto c_before = previous.columns(n(), n());
    const auto c_before_gradient = previous_gradient.columns(n(), n());
    const auto c_tanh = c_tanh_.view().row_range(first, x.rows);
    if (!of_u_) {
      kernels::lstm_backward({x, c_before, c_tanh, h_gradient, c_gradient, x, c_before_gradient});
      recurrent_backward(step, x, U_, previous_gradient);
      return;
    }
    const auto u_gradient = u_.row_range(first, x.rows);
    // The gradient of h is overwritten element by element with that of the argument of tanh, and o with the gradient of
    // its sum, which the following call does not read.
    kernels::lstm_output_backward({x, c_tanh, h_gradient, x, h_gradient});
    of_c_.backward(first, h_gradient);
    kernels::add(h_gradient, c_gradient);
    kernels::lstm_backward({x, c_before, {}, {}, c_gradient, x, c_before_gradient});
    kernels::copy_rows(x, u_gradient);
    of_x_.backward(first, x);
    of_u_.backward(first, u_gradient);
    recurrent_backward(step, u_gradient, U_, previous_gradient);
  }
  void accumulate(ConstMatrix previous, ConstMatrix x_gradient) override {
    kernels::accumulate_outer(dropped(previous), of_u_ ? u_ : x_gradient, gradient_.U);
    for (const auto* normalisation : {&of_x_, &of_u_, &of_c_}) normalisation->accumulate();
  }

 private:
  Normalisation of_x_, of_u_, of_c_;
  Buffer<Real> c_tanh_;
  Matrix u_;
  PackedMatrix U_;
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

std::unique_ptr<Cell> make_cell(CellKind kind, const CellWeights& weights, const CellWeights& gradient) {
  switch (kind) {
    case CellKind::kTanh:
    case CellKind::kNormalisedTanh:
      return std::make_unique<TanhCell>(weights, gradient);
    case CellKind::kGru:
      return std::make_unique<GruCell>(weights, gradient);
    case CellKind::kGruResetAfter:
    case CellKind::kNormalisedGru:
      return std::make_unique<ResetAfterCell>(weights, gradient);
    case CellKind::kLstm:
    case CellKind::kNormalisedLstm:
      return std::make_unique<LstmCell>(weights, gradient);
    case CellKind::kMlp:
    case CellKind::kMlpEncoder:
      return make_mlp_cell(kind, weights, gradient);
  }
  return nullptr;
}

}  // namespace rnnsearch::layers

#include "rnnsearch/layers/cell.h"

#include <utility>
#include <vector>

#include "rnnsearch/kernels/cells.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::layers {
namespace {

using kernels::Buffer;
using kernels::Into;
using kernels::PackedMatrix;
using kernels::Scratch;

// Layer normalisation of summed inputs, or nothing if the weights have none. It keeps the results of its forward pass
// by row, like a Cell. Columns are normalised in groups of these widths: the authors normalise the gates z and r of a
// gated unit together, and all four sums of an LSTM.
class LayerNormalisation {
 public:
  LayerNormalisation(const NormalisationWeights& weights, const NormalisationWeights& gradient,
                     std::vector<std::size_t> groups)
      : weights_(weights), gradient_(gradient), groups_(std::move(groups)) {}

  explicit operator bool() const { return !weights_.g.empty(); }
  void begin(std::size_t rows) {
    if (!*this) return;
    normalised_.shape(rows, weights_.g.size());
    y_gradient_.shape(rows, weights_.g.size());
    inverse_deviation_.shape(rows, groups_.size());
  }
  // Replaces a [R, W] by y.
  void forward(std::size_t first, Matrix a) {
    for_groups(first, a, [&](std::size_t column, Matrix sums, Matrix normalised, Matrix inverse_deviation) {
      const auto g = weights_.g.subspan(column, sums.cols), b = weights_.b.subspan(column, sums.cols);
      kernels::normalise_forward({sums, g, b, normalised, inverse_deviation, sums});
    });
  }
  // Replaces the gradient of y [R, W] by that of a.
  void backward(std::size_t first, Matrix gradient) {
    if (*this) kernels::copy_rows(gradient, y_gradient_.view().row_range(first, gradient.rows));
    for_groups(first, gradient, [&](std::size_t column, Matrix sums, Matrix normalised, Matrix inverse_deviation) {
      kernels::normalise_backward({sums, weights_.g.subspan(column, sums.cols), normalised, inverse_deviation, sums});
    });
  }
  void accumulate() const {
    if (*this) kernels::normalise_accumulate({y_gradient_.view(), normalised_.view(), gradient_.g, gradient_.b});
  }

 private:
  template <class Apply>
  void for_groups(std::size_t first, Matrix a, const Apply& apply) {
    for (std::size_t k = 0, column = 0; *this && k < groups_.size(); column += groups_[k++]) {
      apply(column, a.columns(column, groups_[k]),
            normalised_.view().row_range(first, a.rows).columns(column, groups_[k]),
            inverse_deviation_.view().row_range(first, a.rows).columns(k, 1));
    }
  }

  NormalisationWeights weights_, gradient_;
  std::vector<std::size_t> groups_;
  Buffer<Real> normalised_, inverse_deviation_, y_gradient_;  // [rows, W], [rows, groups], [rows, W]
};

// What all cells have: weights, their gradient, the packed matrices, and dropout of what U multiplies.
class RecurrentCell : public Cell {
 public:
  void begin(std::size_t rows, std::size_t widest, Scratch::Frame& frame,
             const kernels::DropoutMask& recurrent_dropout) final {
    rows_ = rows;
    widest_ = widest;
    dropout_ = recurrent_dropout;
    if (dropout_.drops()) dropped_.shape(rows, n());
    begin_cell(frame);
  }
  void pack(Scratch::Frame& frame) final {
    for (const auto& [packed, matrix] : matrices()) {
      if (matrix.rows > 0) packed->pack(matrix, &frame);
    }
  }
  void begin_backward(Scratch::Frame& frame) override {
    for (const auto& [packed, matrix] : matrices()) {
      if (matrix.rows > 0) packed->pack_transposed(matrix, &frame);
    }
  }

 protected:
  RecurrentCell(const CellWeights& weights, const CellWeights& gradient) : weights_(weights), gradient_(gradient) {}

  virtual void begin_cell(Scratch::Frame& frame) = 0;
  std::size_t n() const { return weights_.U.rows; }
  std::size_t rows() const { return rows_; }
  std::size_t widest() const { return widest_; }

  // The operand of U in a step, or of all rows, after `add_recurrent`: h', after dropout if there is any.
  ConstMatrix dropped(std::size_t first, ConstMatrix previous) const {
    return dropout_.drops() ? dropped_.view().row_range(first, previous.rows) : previous.columns(0, n());
  }
  ConstMatrix dropped(ConstMatrix previous) const { return dropped(0, previous); }
  // Where to add the gradient of the operand of U; `drop_backward` propagates it to the gradient of h'.
  Matrix dropped_gradient(Matrix previous_gradient) {
    if (!dropout_.drops()) return previous_gradient.columns(0, n());
    return dropped_gradient_.zeros(previous_gradient.rows, n());
  }
  void drop_backward(std::size_t first, Matrix previous_gradient) const {
    if (!dropout_.drops()) return;
    kernels::drop(dropout_.rows(first, previous_gradient.rows), dropped_gradient_.view());
    kernels::add(dropped_gradient_.view(), previous_gradient.columns(0, n()));
  }
  // h' U, which is 0 where there is no previous state, and its backward pass with the gradient [R, .] of the product,
  // where U is packed transposed.
  void add_recurrent(const CellStep& step, const PackedMatrix& U, Matrix product, Into into) {
    const std::size_t continuing = step.continuing, R = product.rows;
    if (dropout_.drops()) {
      const auto dropped = dropped_.view().row_range(step.first, R);
      kernels::copy_rows(step.previous.columns(0, n()), dropped);
      kernels::drop(dropout_.rows(step.first, R), dropped);
    }
    if (into == Into::kOverwrite) kernels::zero_rows(product.row_range(continuing, R - continuing));
    kernels::multiply(dropped(step.first, step.previous).row_range(0, continuing), U, product.row_range(0, continuing),
                      into);
  }
  void recurrent_backward(const CellStep& step, ConstMatrix product_gradient, Matrix previous_gradient) {
    add_recurrent_gradient(step, product_gradient, U_, dropped_gradient(previous_gradient));
    drop_backward(step.first, previous_gradient);
  }
  static void add_recurrent_gradient(const CellStep& step, ConstMatrix product_gradient,
                                     const PackedMatrix& U_transposed, Matrix operand_gradient) {
    kernels::multiply(product_gradient.row_range(0, step.continuing), U_transposed,
                      operand_gradient.row_range(0, step.continuing), Into::kAdd);
  }

  CellWeights weights_, gradient_;
  PackedMatrix U_, U_gates_, W_2_, U_2_;  // transposed in the backward pass

 private:
  std::vector<std::pair<PackedMatrix*, Matrix>> matrices() {
    return {{&U_, weights_.U}, {&U_gates_, weights_.U_gates}, {&W_2_, weights_.W_2}, {&U_2_, weights_.U_2}};
  }

  std::size_t rows_ = 0, widest_ = 0;
  kernels::DropoutMask dropout_;
  Buffer<Real> dropped_, dropped_gradient_;
};

// With normalisation, equation 4: the sum of both products is normalised together.
class TanhCell final : public RecurrentCell {
 public:
  TanhCell(const CellWeights& weights, const CellWeights& gradient)
      : RecurrentCell(weights, gradient),
        normalisation_(weights.x_normalisation, gradient.x_normalisation, {weights.U.rows}) {}

  void begin_cell(Scratch::Frame&) override { normalisation_.begin(rows()); }
  void forward(const CellStep& step) override {
    add_recurrent(step, U_, step.x, Into::kAdd);
    normalisation_.forward(step.first, step.x);
    kernels::tanh_forward(step.x);
    kernels::copy_rows(step.x, step.next);
  }
  void backward(const CellStep& step, Matrix next_gradient, Matrix previous_gradient) override {
    kernels::tanh_backward({step.x, next_gradient});
    kernels::copy_rows(next_gradient, step.x);
    normalisation_.backward(step.first, step.x);
    recurrent_backward(step, step.x, previous_gradient);
  }
  void accumulate(ConstMatrix previous, ConstMatrix x_gradient) override {
    kernels::accumulate_outer(dropped(previous), x_gradient, gradient_.U);
    normalisation_.accumulate();
  }

 private:
  LayerNormalisation normalisation_;
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
    RecurrentCell::begin_backward(frame);
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
  void backward(const CellStep& step, Matrix next_gradient, Matrix previous_gradient) override {
    const auto& [first, continuing, x, previous, next] = step;
    const auto u = u_.view().row_range(first, x.rows);  // its gradient takes its place, element by element
    kernels::reset_after_backward({next_gradient, u, previous, x.columns(n(), n()), x.columns(2 * n(), n()),
                                   x.columns(0, n()), x, u, previous_gradient});
    of_x_.backward(first, x);
    of_u_.backward(first, u);
    recurrent_backward(step, u, previous_gradient);
  }
  void accumulate(ConstMatrix previous, ConstMatrix) override {
    const auto u_gradient = u_.view();
    kernels::accumulate_outer(dropped(previous), u_gradient, gradient_.U);
    kernels::add_column_sums(u_gradient.columns(0, gradient_.b_U.size()), gradient_.b_U);
    of_x_.accumulate();
    of_u_.accumulate();
  }

 private:
  LayerNormalisation of_x_, of_u_;
  Buffer<Real> u_;
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
    RecurrentCell::begin_backward(frame);
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
      recurrent_backward(step, x, previous_gradient);
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
    recurrent_backward(step, u_gradient, previous_gradient);
  }
  void accumulate(ConstMatrix previous, ConstMatrix x_gradient) override {
    kernels::accumulate_outer(dropped(previous), of_u_ ? u_ : x_gradient, gradient_.U);
    for (const auto* normalisation : {&of_x_, &of_u_, &of_c_}) normalisation->accumulate();
  }

 private:
  LayerNormalisation of_x_, of_u_, of_c_;
  Buffer<Real> c_tanh_;
  Matrix u_;
};

class MlpCell final : public RecurrentCell {
 public:
  MlpCell(const CellWeights& weights, const CellWeights& gradient) : RecurrentCell(weights, gradient) {}

  void begin_cell(Scratch::Frame&) override {
    hidden_.shape(rows(), weights_.W_2.rows);
    next_gradient_.shape(rows(), weights_.W_2.cols);
  }
  void forward(const CellStep& step) override {
    const auto hidden = hidden_.view().row_range(step.first, step.x.rows);
    add_recurrent(step, U_, step.x, Into::kAdd);
    kernels::relu_forward(step.x);
    kernels::copy_rows(step.x, hidden);
    kernels::multiply(hidden, W_2_, step.next);
    kernels::add_to_rows(weights_.b_2, step.next);
  }
  void backward(const CellStep& step, Matrix next_gradient, Matrix previous_gradient) override {
    kernels::copy_rows(next_gradient, next_gradient_.view().row_range(step.first, step.x.rows));
    kernels::multiply(next_gradient, W_2_, step.x);
    kernels::relu_backward({hidden_.view().row_range(step.first, step.x.rows), step.x});
    recurrent_backward(step, step.x, previous_gradient);
  }
  void accumulate(ConstMatrix previous, ConstMatrix x_gradient) override {
    kernels::accumulate_outer(dropped(previous), x_gradient, gradient_.U);
    kernels::accumulate_outer(hidden_.view(), next_gradient_.view(), gradient_.W_2);
    kernels::add_column_sums(next_gradient_.view(), gradient_.b_2);
  }

 private:
  Buffer<Real> hidden_, next_gradient_;
};

class MlpEncoderCell final : public RecurrentCell {
 public:
  MlpEncoderCell(const CellWeights& weights, const CellWeights& gradient) : RecurrentCell(weights, gradient) {}

  void begin_cell(Scratch::Frame&) override {
    const std::size_t half = weights_.W_2.rows;
    for (auto* buffer : {&from_x_, &from_state_, &from_state_gradient_}) buffer->shape(rows(), half);
    sum_gradient_.shape(rows(), weights_.W_2.cols);
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
  void backward(const CellStep& step, Matrix next_gradient, Matrix previous_gradient) override {
    const auto& [first, continuing, x, previous, next] = step;
    const auto from_state_gradient = from_state_gradient_.view().row_range(first, x.rows);
    kernels::tanh_backward({next, next_gradient});
    kernels::copy_rows(next_gradient, sum_gradient_.view().row_range(first, x.rows));
    kernels::multiply(next_gradient, W_2_, x);
    kernels::relu_backward({from_x_.view().row_range(first, x.rows), x});
    kernels::multiply(next_gradient, U_2_, from_state_gradient);
    kernels::relu_backward({from_state_.view().row_range(first, x.rows), from_state_gradient});
    recurrent_backward(step, from_state_gradient, previous_gradient);
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
};

}  // namespace

std::size_t cell_input_width(CellKind kind, std::size_t n) {
  switch (kind) {
    case CellKind::kTanh:
      return n;
    case CellKind::kGru:
    case CellKind::kGruResetAfter:
      return 3 * n;
    case CellKind::kLstm:
      return 4 * n;
    case CellKind::kMlp:
    case CellKind::kMlpEncoder:
      return n / 2;
  }
  return n;
}

std::size_t cell_state_width(CellKind kind, std::size_t n) { return kind == CellKind::kLstm ? 2 * n : n; }

std::unique_ptr<Cell> make_cell(CellKind kind, const CellWeights& weights, const CellWeights& gradient) {
  switch (kind) {
    case CellKind::kTanh:
      return std::make_unique<TanhCell>(weights, gradient);
    case CellKind::kGru:
      return std::make_unique<GruCell>(weights, gradient);
    case CellKind::kGruResetAfter:
      return std::make_unique<ResetAfterCell>(weights, gradient);
    case CellKind::kLstm:
      return std::make_unique<LstmCell>(weights, gradient);
    case CellKind::kMlp:
      return std::make_unique<MlpCell>(weights, gradient);
    case CellKind::kMlpEncoder:
      return std::make_unique<MlpEncoderCell>(weights, gradient);
  }
  return nullptr;
}

}  // namespace rnnsearch::layers

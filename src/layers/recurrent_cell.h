// The base class of all cells: weights, their gradient, and dropout of what U multiplies.
#pragma once

#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/dropout.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/layers/cell.h"

namespace rnnsearch::layers {

class RecurrentCell : public Cell {
 public:
  void begin(std::size_t rows, std::size_t widest, kernels::Scratch::Frame& frame,
             const kernels::DropoutMask& recurrent_dropout) final {
    rows_ = rows;
    widest_ = widest;
    dropout_ = recurrent_dropout;
    if (dropout_.drops()) dropped_.shape(rows, weights_.U.rows);
    begin_cell(frame);
  }

 protected:
  RecurrentCell(const CellWeights& weights, const CellWeights& gradient) : weights_(weights), gradient_(gradient) {}

  virtual void begin_cell(kernels::Scratch::Frame& frame) = 0;
  std::size_t n() const { return weights_.U.rows; }
  std::size_t rows() const { return rows_; }
  std::size_t widest() const { return widest_; }

  /// The operand of U in a step: h', after dropout if there is any.
  ConstMatrix drop(std::size_t first, ConstMatrix previous) {
    const auto output = previous.columns(0, n());
    if (!dropout_.drops()) return output;
    const auto dropped = dropped_.view().row_range(first, previous.rows);
    kernels::copy_rows(output, dropped);
    kernels::drop(dropout_.rows(first, previous.rows), dropped);
    return dropped;
  }
  /// The result of `drop` again, for a step or for all rows.
  ConstMatrix dropped(std::size_t first, ConstMatrix previous) const {
    return dropout_.drops() ? dropped_.view().row_range(first, previous.rows) : previous.columns(0, n());
  }
  ConstMatrix dropped(ConstMatrix previous) const { return dropped(0, previous); }
  /// Where to add the gradient of the operand of U; `drop_backward` propagates it to the gradient of h'.
  Matrix dropped_gradient(Matrix previous_gradient) {
    if (!dropout_.drops()) return previous_gradient.columns(0, n());
    return dropped_gradient_.zeros(previous_gradient.rows, n());
  }
  void drop_backward(std::size_t first, Matrix previous_gradient) const {
    if (!dropout_.drops()) return;
    kernels::drop(dropout_.rows(first, previous_gradient.rows), dropped_gradient_.view());
    kernels::add(dropped_gradient_.view(), previous_gradient.columns(0, n()));
  }
  /// h' U, which is 0 where there is no previous state, and its backward pass with the gradient [R, .] of the product,
  /// where U is packed transposed.
  void add_recurrent(const CellStep& step, const kernels::PackedMatrix& U, Matrix product, kernels::Into into) {
    const std::size_t continuing = step.continuing;
    const auto operand = drop(step.first, step.previous);
    if (into == kernels::Into::kOverwrite) {
      kernels::zero_rows(product.row_range(continuing, product.rows - continuing));
    }
    kernels::multiply(operand.row_range(0, continuing), U, product.row_range(0, continuing), into);
  }
  void recurrent_backward(const CellStep& step, ConstMatrix product_gradient, const kernels::PackedMatrix& U_transposed,
                          Matrix previous_gradient) {
    const auto operand_gradient = dropped_gradient(previous_gradient);
    add_recurrent_gradient(step, product_gradient, U_transposed, operand_gradient);
    drop_backward(step.first, previous_gradient);
  }
  static void add_recurrent_gradient(const CellStep& step, ConstMatrix product_gradient,
                                     const kernels::PackedMatrix& U_transposed, Matrix operand_gradient) {
    kernels::multiply(product_gradient.row_range(0, step.continuing), U_transposed,
                      operand_gradient.row_range(0, step.continuing), kernels::Into::kAdd);
  }

  CellWeights weights_, gradient_;

 private:
  std::size_t rows_ = 0, widest_ = 0;
  kernels::DropoutMask dropout_;
  kernels::Buffer<Real> dropped_, dropped_gradient_;
};

}  // namespace rnnsearch::layers

// The base class of all cells: weights, their gradient, and dropout of what U multiplies.
#pragma once

#include "rnnsearch/kernels/dropout.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/layers/cell.h"

namespace rnnsearch::layers {

template <class Real>
class RecurrentCell : public Cell<Real> {
 public:
  void begin(std::size_t rows, std::size_t widest, const kernels::DropoutMask& recurrent_dropout) final {
    dropout_ = recurrent_dropout;
    if (dropout_.drops()) dropped_.shape(rows, weights_.U.rows);
    begin_cell(rows, widest);
  }

 protected:
  RecurrentCell(const CellWeights<Real>& weights, const CellWeights<Real>& gradient)
      : weights_(weights), gradient_(gradient) {}

  virtual void begin_cell(std::size_t rows, std::size_t widest) = 0;
  std::size_t n() const { return weights_.U.rows; }

  /// The operand of U in a step: h', after dropout if there is any.
  ConstMatrixView<Real> drop(std::size_t first, ConstMatrixView<Real> previous) {
    const auto output = previous.columns(0, n());
    if (!dropout_.drops()) return output;
    const auto dropped = dropped_.view().row_range(first, previous.rows);
    kernels::copy_rows<Real>(output, dropped);
    kernels::drop<Real>(dropout_.rows(first, previous.rows), dropped);
    return dropped;
  }
  /// The result of `drop` again, for a step or for all rows.
  ConstMatrixView<Real> dropped(std::size_t first, ConstMatrixView<Real> previous) const {
    return dropout_.drops() ? dropped_.view().row_range(first, previous.rows) : previous.columns(0, n());
  }
  ConstMatrixView<Real> dropped(ConstMatrixView<Real> previous) const { return dropped(0, previous); }
  /// Where to add the gradient of the operand of U; `drop_backward` propagates it to the gradient of h'.
  MatrixView<Real> dropped_gradient(MatrixView<Real> previous_gradient) {
    if (!dropout_.drops()) return previous_gradient.columns(0, n());
    return dropped_gradient_.zeros(previous_gradient.rows, n());
  }
  void drop_backward(std::size_t first, MatrixView<Real> previous_gradient) const {
    if (!dropout_.drops()) return;
    kernels::drop<Real>(dropout_.rows(first, previous_gradient.rows), dropped_gradient_.view());
    kernels::add<Real>(dropped_gradient_.view(), previous_gradient.columns(0, n()));
  }
  /// h' U and its backward pass with the gradient [R, .] of the product, where U is packed transposed.
  void add_recurrent(std::size_t first, ConstMatrixView<Real> previous, const kernels::PackedMatrix<Real>& U,
                     MatrixView<Real> product, kernels::Into into) {
    kernels::multiply<Real>(drop(first, previous), U, product, into);
  }
  void recurrent_backward(std::size_t first, ConstMatrixView<Real> product_gradient,
                          const kernels::PackedMatrix<Real>& U_transposed, MatrixView<Real> previous_gradient) {
    kernels::multiply<Real>(product_gradient, U_transposed, dropped_gradient(previous_gradient), kernels::Into::kAdd);
    drop_backward(first, previous_gradient);
  }

  CellWeights<Real> weights_, gradient_;

 private:
  kernels::DropoutMask dropout_;
  kernels::Buffer<Real> dropped_, dropped_gradient_;
};

}  // namespace rnnsearch::layers

// One recurrent layer of an encoder over a packed batch, in one direction: any cell, x_t = input_t W_in + b. States
// start from 0 at the first word read. X words of the batch, I input width, n output width, S state width (cell.h).
#pragma once

#include <memory>
#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/layers/cell.h"
#include "rnnsearch/layers/gated_recurrence.h"
#include "rnnsearch/layers/packing.h"

namespace rnnsearch::layers {

template <class Real>
struct RecurrentWeights {
  MatrixView<Real> W_in;  // [I, as many as the cell's x]
  std::span<Real> b;      // of its first columns; empty where the cell normalises x, and has its own
  CellWeights<Real> cell;
};

template <class Real>
class RecurrentLayer {
 public:
  RecurrentLayer(CellKind kind, std::size_t n, Direction direction, const RecurrentWeights<Real>& weights,
                 const RecurrentWeights<Real>& gradient);

  /// input [X, I]; recurrent_dropout [X], of the cell.
  void forward(const Packing& packing, ConstMatrixView<Real> input, const kernels::DropoutMask& recurrent_dropout = {});
  /// ADDS to the weights' gradient and to input_gradient [X, I]. state_gradient [X, S] holds the gradient from above
  /// and is used up.
  void backward(const Packing& packing, ConstMatrixView<Real> input, MatrixView<Real> state_gradient,
                MatrixView<Real> input_gradient);

  /// Of the forward pass, packed rows: [X, S], and of it the output [X, n].
  ConstMatrixView<Real> states() const { return states_.view(); }
  ConstMatrixView<Real> outputs() const { return states_.view().columns(0, n_); }

 private:
  std::size_t n_, state_width_;
  Direction direction_;
  RecurrentWeights<Real> weights_, gradient_;
  std::unique_ptr<Cell<Real>> cell_;
  kernels::Buffer<Real> x_, previous_, states_, carry_;
};

}  // namespace rnnsearch::layers

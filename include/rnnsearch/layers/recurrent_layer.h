// A recurrent layer of an encoder over a packed batch, in one direction, with any cell and x_t = input_t W_in + b. The
// state is 0 before the first word that is read. X words in the batch, I input width, n output width, S state width
// (cell.h).
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
  MatrixView<Real> W_in;  // [I, width of the cell's x]
  std::span<Real> b;      // bias of the first columns of x; empty if the cell normalises x, because LN has a bias
  CellWeights<Real> cell;
};

template <class Real>
class RecurrentLayer {
 public:
  RecurrentLayer(CellKind kind, std::size_t n, Direction direction, const RecurrentWeights<Real>& weights,
                 const RecurrentWeights<Real>& gradient);

  /// input [X, I]; recurrent_dropout: the mask of the cell for X rows.
  void forward(const Packing& packing, ConstMatrixView<Real> input, const kernels::DropoutMask& recurrent_dropout = {});
  /// ADDS to the gradient of the weights and to input_gradient [X, I]. state_gradient [X, S]: the gradient of the
  /// states from the following layers; it is overwritten.
  void backward(const Packing& packing, ConstMatrixView<Real> input, MatrixView<Real> state_gradient,
                MatrixView<Real> input_gradient);

  /// Results of the forward pass in packed rows: the states [X, S], and their output columns [X, n].
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

// A recurrent layer of an encoder over a packed batch, in one direction, with any cell and x_t = input_t W_in + b. The
// state is 0 before the first word that is read. X words in the batch, D distinct rows of the input, I input width, n
// output width, S state width (cell.h).
#pragma once

#include <memory>
#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/scratch.h"
#include "rnnsearch/layers/cell.h"
#include "rnnsearch/layers/packing.h"
#include "rnnsearch/layers/repeated_rows.h"

namespace rnnsearch::layers {

enum class Direction { kForward, kBackward };

/// Matrices that share an input are stored as one, so that one product computes all of them.
struct RecurrentWeights {
  Matrix W_in;        // [I, width of the cell's x]: for gru W | W_z | W_r
  std::span<Real> b;  // bias of the first columns of x; empty if the cell normalises x, because LN has a bias
  CellWeights cell;
};

class RecurrentLayer {
 public:
  /// memory: for temporary matrices.
  RecurrentLayer(CellKind kind, std::size_t n, Direction direction, const RecurrentWeights& weights,
                 const RecurrentWeights& gradient, const kernels::Scratch& memory);

  std::size_t state_width() const { return state_width_; }
  /// input [X, I]; states [X, S] out, whose first n columns are the outputs; recurrent_dropout: the mask of the cell
  /// for X rows.
  void forward(const Packing& packing, const RepeatedRows& input, Matrix states,
               const kernels::DropoutMask& recurrent_dropout = {});
  /// ADDS to input_gradient [D, I]. states: the result of the forward pass. state_gradient [X, S]: the gradient of the
  /// states from the following layers; it is overwritten. frame: memory that must outlive the call of `accumulate`.
  void backward(const Packing& packing, const RepeatedRows& input, Matrix states, Matrix state_gradient,
                Matrix input_gradient, kernels::Scratch::Frame& frame);
  /// Call it after `backward`, with the same input. ADDS to the gradient of the weights.
  void accumulate(const RepeatedRows& input);

 private:
  std::size_t state_width_;
  Direction direction_;
  RecurrentWeights weights_, gradient_;
  kernels::Scratch memory_;
  std::unique_ptr<Cell> cell_;
  kernels::Buffer<Real> x_;  // [X, .]; after the forward pass what the cell keeps in it, then its gradient
  // From `backward` to `accumulate`: h' of all steps [X, S], and the gradient of x by distinct row [D, .].
  Matrix previous_, sums_;
};

}  // namespace rnnsearch::layers

// The recurrent cells, one step at a time. A step computes the next state from x, which the caller computes from the
// inputs of the step, and from the previous state. h' is the previous output, U a recurrent matrix.
//   tanh          h = tanh(x + h' U)                                                    x [R, n]
//   gru           z = sigma(x_z + h' U_z)  r = sigma(x_r + h' U_r)                     x [R, 3n] = h | z | r
//                 h~ = tanh(x_h + (r o h') U)  h = (1 - z) o h' + z o h~
//   gru, after    the reset gate acts after the product: see kernels/cells.h            x [R, 3n]
//   lstm          see kernels/cells.h; the state is [h | c]                             x [R, 4n] = g | i | f | o
//   mlp           h = max(x + h' U, 0) W_2 + b_2                                        x [R, n/2]
//   mlp, encoder  h = tanh(max(x, 0) W_2 + max(h' U + b_U, 0) U_2 + b_2)                x [R, n/2]
// With weights of layer normalisation LN (Ba, Kiros and Hinton 2016, equations 4 and 20 to 22, and their appendix's
// LSTM):
//   tanh          h = tanh(LN(x + h' U))
//   gru, after    with LN(x) and LN(h' U), where z and r are normalised together and h~ separately
//   lstm          lstm with LN(x) + LN(h' U), all four sums normalised together, and h = o o tanh(LN(c))
// R rows of a step, n output width, S state width: n, or 2n for lstm.
//
// Recurrent dropout (Gal and Ghahramani 2016) drops units of h' only where U multiplies h'. The part of h' that a gate
// passes on to h, and c', are not dropped.
//
// A Cell stores the results of its forward pass that its backward pass needs, by row: in x, which the caller keeps for
// it, and the rest itself. The rows of all steps follow each other, and `first` is the first row of a step. A caller
// that needs no backward pass may use the same rows for every step.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/dropout.h"

namespace rnnsearch::layers {

enum class CellKind { kTanh, kGru, kGruResetAfter, kLstm, kMlp, kMlpEncoder };

/// The widths of x and of the state for output width n.
std::size_t cell_input_width(CellKind kind, std::size_t n);
std::size_t cell_state_width(CellKind kind, std::size_t n);

/// Gain and bias of a layer normalisation, y = LN(a; g, b) of kernels/cells.h. Both are empty if there is none.
struct NormalisationWeights {
  std::span<Real> g, b;  // [W]
};

struct CellWeights {
  Matrix U;                              // [n, n]; lstm [n, 4n]; gru, after [n, 3n]; mlp [n, n/2]
  Matrix U_gates;                        // gru [n, 2n]
  Matrix W_2;                            // mlp [n/2, n]
  Matrix U_2;                            // mlp, encoder [n/2, n]
  std::span<Real> b_U;                   // gru, after [n], or empty; mlp, encoder [n/2]
  std::span<Real> b_2;                   // mlp [n]
  NormalisationWeights x_normalisation;  // tanh [n], for the whole sum; gru [3n]; lstm [4n]
  NormalisationWeights U_normalisation;  // gru [3n]; lstm [4n]
  NormalisationWeights c_normalisation;  // lstm [n]
};

struct CellStep {
  std::size_t first = 0;  // the first of its R rows
  // U multiplies the previous state in the rows before this one alone: in the other rows it is 0, or nobody needs the
  // next state and its gradient is 0.
  std::size_t continuing = 0;
  Matrix x;              // [R, .]
  ConstMatrix previous;  // [R, S]
  Matrix next;           // [R, S]
};

class Cell {
 public:
  virtual ~Cell() = default;

  /// Call it before the steps of a pass over `rows` rows; no step has more than `widest` rows. frame: temporary memory,
  /// which must outlive the steps. recurrent_dropout: the mask of all rows; the data that it views must outlive the
  /// backward pass.
  virtual void begin(std::size_t rows, std::size_t widest, kernels::Scratch::Frame& frame,
                     const kernels::DropoutMask& recurrent_dropout = {}) = 0;
  /// Packs the weights into memory of `frame`, which must outlive the steps. Call it before the steps whenever weights
  /// have changed or begin_backward was called.
  virtual void pack(kernels::Scratch::Frame& frame) = 0;
  /// Writes step.next and overwrites step.x with what the backward pass needs.
  virtual void forward(const CellStep& step) = 0;
  /// Call it before the steps of the backward pass. It undoes `pack`. frame: as for `begin`, until `accumulate`.
  virtual void begin_backward(kernels::Scratch::Frame& frame) = 0;
  /// step.x becomes the gradient of x. next_gradient [R, S] is overwritten; previous_gradient [R, S] ADDS, and is not
  /// complete in rows without a previous state.
  virtual void backward(const CellStep& step, Matrix next_gradient, Matrix previous_gradient) = 0;
  /// Call it after the backward steps, with all rows. ADDS to the gradient of the weights.
  virtual void accumulate(ConstMatrix previous, ConstMatrix x_gradient) = 0;
};

std::unique_ptr<Cell> make_cell(CellKind kind, const CellWeights& weights, const CellWeights& gradient);

}  // namespace rnnsearch::layers

// The gated hidden unit over a packed batch (Cho et al. 2014; Bahdanau, Cho and Bengio 2015, appendix A.1.1 and A.2.1).
//   z = sigma(x W_z + h' U_z)   r = sigma(x W_r + h' U_r)   h~ = tanh(x W + (r o h') U + b)   h = (1 - z) o h' + z o h~
// X words in the batch, m input width, n state width.
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/scratch.h"
#include "rnnsearch/layers/packing.h"

namespace rnnsearch::layers {

/// Matrices that share an input are stored as one, so that one product computes all of them.
template <class Real>
struct GatedWeights {
  MatrixView<Real> W_in;     // [m, 3n]  W | W_z | W_r
  MatrixView<Real> U_gates;  // [n, 2n]  U_z | U_r
  MatrixView<Real> U;        // [n, n]
  std::span<Real> b;         // [n]: b; or [3n]: b | b_z | b_r
};

/// One step of R rows, after the recurrent product h' [U_z | U_r].
template <class Real>
struct GatedStep {
  ConstMatrixView<Real> x;           // [R, 3n]
  ConstMatrixView<Real> extra;       // [R, 3n], added to x; or empty
  ConstMatrixView<Real> recurrent;   // [R, 2n]
  ConstMatrixView<Real> previous;    // [R, n] h'
  MatrixView<Real> z, r, candidate;  // [R, n] out
  MatrixView<Real> state;            // [R, n] out
};
/// scratch: [at least R, 2n]. U is a ConstMatrixView or a PackedMatrix; the results are bit-identical.
template <class Real, class Matrix>
void gated_step_forward(const Matrix& U, const GatedStep<Real>& step, MatrixView<Real> scratch);

template <class Real>
struct GatedStepBackward {
  ConstMatrixView<Real> state_gradient;             // [R, n]
  ConstMatrixView<Real> z, r, candidate, previous;  // [R, n] from the forward pass
  MatrixView<Real> x_gradient;                      // [R, 3n] out
  MatrixView<Real> recurrent_gradient;              // [R, 2n] out, or empty: a copy of the last columns of x_gradient
  MatrixView<Real> previous_gradient;               // [R, n] ADDS the gradient except the part through `recurrent`
  MatrixView<Real> reset;                           // [R, n] out: r o h', which the gradient of U needs
};
/// scratch: [at least R, n]. U_transposed: U, packed with pack_transposed.
template <class Real>
void gated_step_backward(const kernels::PackedMatrix<Real>& U_transposed, const GatedStepBackward<Real>& step,
                         MatrixView<Real> scratch);

enum class Direction { kForward, kBackward };

/// Results of the forward pass that the backward pass needs, in packed rows.
template <class Real>
struct GatedActivations {
  kernels::Buffer<Real> x;  // [X, 3n] h~ | z | r; after the backward pass the gradient of x
  kernels::Scratch memory;
};

/// The state is 0 before the first word that is read. Writes states [X, n].
template <class Real>
void gated_forward(const GatedWeights<Real>& weights, const Packing& packing, Direction direction,
                   ConstMatrixView<Real> input, GatedActivations<Real>& activations, MatrixView<Real> states);
/// ADDS to `gradient` and `input_gradient` [X, m]. states: the result of the forward pass. state_gradient [X, n]: the
/// gradient of the states from the following layers; it is overwritten.
template <class Real>
void gated_backward(const GatedWeights<Real>& weights, const GatedWeights<Real>& gradient, const Packing& packing,
                    Direction direction, ConstMatrixView<Real> input, GatedActivations<Real>& activations,
                    ConstMatrixView<Real> states, MatrixView<Real> state_gradient, MatrixView<Real> input_gradient);

}  // namespace rnnsearch::layers

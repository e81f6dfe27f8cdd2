// The gated hidden unit over a packed batch (Cho et al. 2014; Bahdanau, Cho and Bengio 2015, appendix A.1.1 and A.2.1).
//   z = sigma(x W_z + h' U_z)   r = sigma(x W_r + h' U_r)   h~ = tanh(x W + (r o h') U + b)   h = (1 - z) o h' + z o h~
// X words of the batch, m input width, n state width.
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/scratch.h"
#include "rnnsearch/layers/packing.h"

namespace rnnsearch::layers {

/// Matrices that share an input are one: a product over it computes all three at once.
template <class Real>
struct GatedWeights {
  MatrixView<Real> W_in;     // [m, 3n]  W | W_z | W_r
  MatrixView<Real> U_gates;  // [n, 2n]  U_z | U_r
  MatrixView<Real> U;        // [n, n]
  std::span<Real> b;         // [n]: b, or [3n]: b | b_z | b_r
};

/// One step of R rows, from the recurrent product h' [U_z | U_r] on.
template <class Real>
struct GatedStep {
  ConstMatrixView<Real> x;           // [R, 3n]
  ConstMatrixView<Real> extra;       // [R, 3n], added to x; or empty
  ConstMatrixView<Real> recurrent;   // [R, 2n]
  ConstMatrixView<Real> previous;    // [R, n] h'
  MatrixView<Real> z, r, candidate;  // [R, n] out
  MatrixView<Real> state;            // [R, n] out
};
/// `scratch` is [at least R, 2n]. U is a ConstMatrixView, or packed: the bits are the same.
template <class Real, class Matrix>
void gated_step_forward(const Matrix& U, const GatedStep<Real>& step, MatrixView<Real> scratch);

template <class Real>
struct GatedStepBackward {
  ConstMatrixView<Real> state_gradient;             // [R, n]
  ConstMatrixView<Real> z, r, candidate, previous;  // [R, n] of the forward pass
  MatrixView<Real> x_gradient;                      // [R, 3n] out
  MatrixView<Real> recurrent_gradient;              // [R, 2n] out: a copy of the last columns of x_gradient; or empty
  MatrixView<Real> previous_gradient;               // [R, n] ADDS all but the share that goes through `recurrent`
  MatrixView<Real> reset;                           // [R, n] out: r o h', which U's gradient needs
};
/// `scratch` is [at least R, n]. U_transposed: U, packed transposed.
template <class Real>
void gated_step_backward(const kernels::PackedMatrix<Real>& U_transposed, const GatedStepBackward<Real>& step,
                         MatrixView<Real> scratch);

enum class Direction { kForward, kBackward };

/// What the forward pass leaves for the backward pass. Rows are packed.
template <class Real>
struct GatedActivations {
  kernels::Buffer<Real> x;  // [X, 3n]: h~ | z | r; after the backward pass, the gradient of x
  kernels::Scratch memory;
};

/// States start from 0 at the first word read. states [X, n] is the result.
template <class Real>
void gated_forward(const GatedWeights<Real>& weights, const Packing& packing, Direction direction,
                   ConstMatrixView<Real> input, GatedActivations<Real>& activations, MatrixView<Real> states);
/// ADDS to `gradient` and `input_gradient` [X, m]. `states` are those of the forward pass. state_gradient [X, n] holds
/// the gradient from above and is used up.
template <class Real>
void gated_backward(const GatedWeights<Real>& weights, const GatedWeights<Real>& gradient, const Packing& packing,
                    Direction direction, ConstMatrixView<Real> input, GatedActivations<Real>& activations,
                    ConstMatrixView<Real> states, MatrixView<Real> state_gradient, MatrixView<Real> input_gradient);

}  // namespace rnnsearch::layers

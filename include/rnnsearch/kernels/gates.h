// The elementwise parts of the gated unit (Cho et al. 2014; Bahdanau, Cho and Bengio 2015, appendix A.1.1), which
// surround its two recurrent products. The reset gate acts before the product, unlike in cuDNN:
//   z = sigma(x_z + g_z)   r = sigma(x_r + g_r)   h~ = tanh(x_h + (r o h') U)   h = (1 - z) o h' + z o h~
// R rows, n state width. x holds the column blocks [x_h | x_z | x_r], [R, 3n]. h~, z and r may be column blocks
// of x itself: in the forward pass they overwrite their sums, and in the backward pass their gradients overwrite them.
//
// Errors for float: sigma and tanh are within 5e-7 of the exact value (absolute). tanh is also within 7 units in the
// last place for |x| >= 1e-35, odd, and never beyond +-1. NaN stays NaN.
#pragma once

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

template <class Real>
struct GatesForward {
  ConstMatrixView<Real> x;          // [R, 3n]
  ConstMatrixView<Real> recurrent;  // [R, 2n] h' [U_z | U_r]
  ConstMatrixView<Real> previous;   // [R, n] h'
  MatrixView<Real> z, r;            // [R, n] out
  MatrixView<Real> reset;           // [R, n] out: r o h'
};
template <class Real>
void gates_forward(const GatesForward<Real>& of);

template <class Real>
struct StateForward {
  ConstMatrixView<Real> x;            // as above
  ConstMatrixView<Real> recurrent;    // [R, n] (r o h') U
  ConstMatrixView<Real> z, previous;  // [R, n]
  MatrixView<Real> candidate;         // [R, n] out: h~
  MatrixView<Real> state;             // [R, n] out: h
};
template <class Real>
void state_forward(const StateForward<Real>& of);

template <class Real>
struct StateBackward {
  ConstMatrixView<Real> gradient;                // [R, n] dL/dh
  ConstMatrixView<Real> z, candidate, previous;  // [R, n]
  MatrixView<Real> x;                            // [R, 3n] out: gradients in the column blocks of x_h and x_z
  MatrixView<Real> previous_gradient;            // [R, n] ADDS dL/dh o (1 - z)
};
template <class Real>
void state_backward(const StateBackward<Real>& of);

template <class Real>
struct GatesBackward {
  ConstMatrixView<Real> reset_gradient;  // [R, n] dL/d(r o h')
  ConstMatrixView<Real> r, previous;     // [R, n]
  MatrixView<Real> x;                    // [R, 3n] out: gradient in the column block of x_r
  MatrixView<Real> previous_gradient;    // [R, n] ADDS dL/d(r o h') o r
  MatrixView<Real> reset;                // [R, n] out: r o h', which the gradient of U needs
};
template <class Real>
void gates_backward(const GatesBackward<Real>& of);

/// Forward: y = tanh(y) in place. Backward: gradient *= 1 - y o y, with y from the forward pass.
template <class Real>
void tanh_forward(MatrixView<Real> y);
template <class Real>
void tanh_backward(ConstMatrixView<Real> y, MatrixView<Real> gradient);

}  // namespace rnnsearch::kernels

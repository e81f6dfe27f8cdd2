// The elementwise halves of the gated unit (Cho et al. 2014; Bahdanau, Cho and Bengio 2015, appendix A.1.1), around its
// two recurrent products. The reset gate acts before the product (not as in cuDNN):
//   z = sigma(x_z + g_z)   r = sigma(x_r + g_r)   h~ = tanh(x_h + (r o h') U)   h = (1 - z) o h' + z o h~
// R rows, n state width. Operands x hold [x_h | x_z | x_r] side by side, [R, 3n]; `extra` (may be empty) is added to x.
// h~, z and r may be the column blocks of x itself, going forward and back: they replace their sums, and are replaced
// by their gradients.
//
// float: sigma and tanh are within 5e-7 of the exact value (absolute); tanh also within 7 units in the last
// place from |x| = 1e-35 on, odd, and never beyond +-1. A NaN stays one.
#pragma once

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

template <class Real>
struct GatesForward {
  ConstMatrixView<Real> x;          // [R, 3n]
  ConstMatrixView<Real> extra;      // [R, 3n] or empty: the context's share
  ConstMatrixView<Real> recurrent;  // [R, 2n] h' [U_z | U_r]
  ConstMatrixView<Real> previous;   // [R, n] h'
  MatrixView<Real> z, r;            // [R, n] out
  MatrixView<Real> reset;           // [R, n] out: r o h'
};
template <class Real>
void gates_forward(const GatesForward<Real>& of);

template <class Real>
struct StateForward {
  ConstMatrixView<Real> x, extra;     // as above
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
  MatrixView<Real> x;                            // [R, 3n] out: columns of x_h and x_z
  MatrixView<Real> previous_gradient;            // [R, n] ADDS dL/dh o (1 - z)
};
template <class Real>
void state_backward(const StateBackward<Real>& of);

template <class Real>
struct GatesBackward {
  ConstMatrixView<Real> reset_gradient;  // [R, n] dL/d(r o h')
  ConstMatrixView<Real> r, previous;     // [R, n]
  MatrixView<Real> x;                    // [R, 3n] in: column block of x_z; out: column block of x_r
  MatrixView<Real> recurrent;            // [R, 2n] out: a copy of the blocks of x_z and x_r; or empty
  MatrixView<Real> previous_gradient;    // [R, n] ADDS dL/d(r o h') o r
  MatrixView<Real> reset{};              // [R, n] out: r o h' again, for who did not keep it; or empty
};
template <class Real>
void gates_backward(const GatesBackward<Real>& of);

/// y = tanh(y), in place; and gradient *= 1 - y o y.
template <class Real>
void tanh_forward(MatrixView<Real> y);
template <class Real>
void tanh_backward(ConstMatrixView<Real> y, MatrixView<Real> gradient);

}  // namespace rnnsearch::kernels

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

struct GatesForward {
  ConstMatrix x;          // [R, 3n]
  ConstMatrix recurrent;  // [R, 2n] h' [U_z | U_r]
  ConstMatrix previous;   // [R, n] h'
  Matrix z, r;            // [R, n] out
  Matrix reset;           // [R, n] out: r o h'
};
void gates_forward(const GatesForward& args);

struct StateForward {
  ConstMatrix x;            // as above
  ConstMatrix recurrent;    // [R, n] (r o h') U
  ConstMatrix z, previous;  // [R, n]
  Matrix candidate;         // [R, n] out: h~
  Matrix state;             // [R, n] out: h
};
void state_forward(const StateForward& args);

struct StateBackward {
  ConstMatrix gradient;                // [R, n] dL/dh
  ConstMatrix z, candidate, previous;  // [R, n]
  Matrix x;                            // [R, 3n] out: gradients in the column blocks of x_h and x_z
  Matrix previous_gradient;            // [R, n] ADDS dL/dh o (1 - z)
};
void state_backward(const StateBackward& args);

struct GatesBackward {
  ConstMatrix reset_gradient;  // [R, n] dL/d(r o h')
  ConstMatrix r, previous;     // [R, n]
  Matrix x;                    // [R, 3n] out: gradient in the column block of x_r
  Matrix previous_gradient;    // [R, n] ADDS dL/d(r o h') o r
  Matrix reset;                // [R, n] out: r o h', which the gradient of U needs
};
void gates_backward(const GatesBackward& args);

/// y = tanh(y) in place
void tanh_forward(const Matrix& y);

struct TanhBackward {
  ConstMatrix y;    // from the forward pass
  Matrix gradient;  // in: dL/dy; out: dL/dy o (1 - y o y)
};
void tanh_backward(const TanhBackward& args);

}  // namespace rnnsearch::kernels

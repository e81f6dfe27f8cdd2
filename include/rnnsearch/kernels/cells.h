// The elementwise parts of recurrent cells, without their matrix products, and layer normalisation. R rows, n state
// width.
//
// Errors for float: sigma and tanh are within 5e-7 of the exact value (absolute). tanh is also within 7 units in the
// last place for |x| >= 1e-35, odd, and never beyond +-1. NaN stays NaN.
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// The gated unit (Cho et al. 2014; Bahdanau, Cho and Bengio 2015, appendix A.1.1), around its two recurrent products.
/// The reset gate acts before the product, unlike in cuDNN:
///   z = sigma(x_z + g_z)   r = sigma(x_r + g_r)   h~ = tanh(x_h + (r o h') U)   h = (1 - z) o h' + z o h~
/// x holds the column blocks [x_h | x_z | x_r], [R, 3n]. h~, z and r may be column blocks of x itself: in the forward
/// pass they overwrite their sums, and in the backward pass their gradients overwrite them.
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

/// Long short-term memory (Hochreiter and Schmidhuber 1997; with forget gates, Gers et al. 2000):
///   g = tanh(.)  i, f, o = sigma(.)   c = f o c' + i o g   h = o o tanh(c)
/// The columns of gates are g | i | f | o. If cell_tanh and state (forward) or state_gradient (backward) are empty,
/// only the part up to c is computed: a caller that inserts a layer between c and the tanh continues with lstm_output.
struct LstmForward {
  Matrix gates;               // [R, 4n] in: sums before sigma and tanh; out: g, i, f, o
  ConstMatrix previous_cell;  // [R, n] c'
  Matrix cell, cell_tanh;     // [R, n] out: c, tanh(c)
  Matrix state;               // [R, n] out: h
};
void lstm_forward(const LstmForward& args);

struct LstmBackward {
  ConstMatrix gates, previous_cell, cell_tanh;  // from the forward pass
  ConstMatrix state_gradient, cell_gradient;    // [R, n]
  Matrix gates_gradient;                        // [R, 4n] out: gradient of the sums
  Matrix previous_cell_gradient;                // [R, n] ADDS
};
void lstm_backward(const LstmBackward& args);

/// h = o o tanh(y), where y is the output of a layer that is applied to c.
struct LstmOutputForward {
  ConstMatrix gates;  // [R, 4n] g, i, f, o
  Matrix y_tanh;      // [R, n] in: y; out: tanh(y)
  Matrix state;       // [R, n] out: h
};
void lstm_output_forward(const LstmOutputForward& args);

struct LstmOutputBackward {
  ConstMatrix gates, y_tanh;   // from the forward pass
  ConstMatrix state_gradient;  // [R, n]
  Matrix gates_gradient;       // [R, 4n] out: only the columns of o, gradient of their sum
  Matrix y_gradient;           // [R, n] out
};
void lstm_output_backward(const LstmOutputBackward& args);

/// The gated unit whose reset gate acts after the product, as in cuDNN and PyTorch, with z as in Cho et al. (2014):
///   z = sigma(x_z + u_z)   r = sigma(x_r + u_r)   h~ = tanh(x_h + r o u_h)   h = (1 - z) o h' + z o h~
/// The columns of x and of u = h' U are h | z | r; u_h includes the bias b_U.
struct ResetAfterForward {
  ConstMatrix x, u;        // [R, 3n]
  ConstMatrix previous;    // [R, n] h'
  Matrix z, r, candidate;  // [R, n] out
  Matrix state;            // [R, n] out
};
void reset_after_forward(const ResetAfterForward& args);

struct ResetAfterBackward {
  ConstMatrix gradient;                      // [R, n] dL/dh
  ConstMatrix u, previous, z, r, candidate;  // from the forward pass
  Matrix x_gradient, u_gradient;             // [R, 3n] out
  Matrix previous_gradient;                  // [R, n] ADDS the gradient except the part through u
};
void reset_after_backward(const ResetAfterBackward& args);

/// y = max(y, 0) in place; NaN stays NaN.
void relu_forward(const Matrix& y);

struct ReluBackward {
  ConstMatrix y;    // from the forward pass
  Matrix gradient;  // in: dL/dy; out: the same where y > 0, else 0
};
void relu_backward(const ReluBackward& args);

/// y = tanh(y) in place
void tanh_forward(const Matrix& y);

struct TanhBackward {
  ConstMatrix y;    // from the forward pass
  Matrix gradient;  // in: dL/dy; out: dL/dy o (1 - y o y)
};
void tanh_backward(const TanhBackward& args);

/// Layer normalisation (Ba, Kiros and Hinton 2016, equation 4) of each row a of summed inputs:
///   mu = mean(a)   sigma^2 = mean((a - mu)^2)   y = g o (a - mu) / sqrt(sigma^2 + epsilon) + b
/// epsilon is 1e-5, as in the authors' code; it prevents a division by 0 for a row of equal numbers. W units.
struct NormaliseForward {
  ConstMatrix a;               // [R, W]
  std::span<const Real> g, b;  // [W]
  Matrix normalised;           // [R, W] out: (a - mu) / sqrt(sigma^2 + epsilon)
  Matrix inverse_deviation;    // [R, 1] out: 1 / sqrt(sigma^2 + epsilon)
  Matrix y;                    // [R, W] out; may be a
};
void normalise_forward(const NormaliseForward& args);

struct NormaliseBackward {
  ConstMatrix y_gradient;                     // [R, W]
  std::span<const Real> g;                    // [W]
  ConstMatrix normalised, inverse_deviation;  // from the forward pass
  Matrix a_gradient;                          // [R, W] out; may be y_gradient
};
void normalise_backward(const NormaliseBackward& args);

/// ADDS over all rows, from the first to the last.
struct NormaliseAccumulate {
  ConstMatrix y_gradient, normalised;      // [R, W]
  std::span<Real> g_gradient, b_gradient;  // [W] += y_gradient o normalised; += y_gradient
};
void normalise_accumulate(const NormaliseAccumulate& args);

}  // namespace rnnsearch::kernels

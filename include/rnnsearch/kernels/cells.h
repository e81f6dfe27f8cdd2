// The elementwise parts of recurrent cells, without their matrix products. The gated unit is in gates.h.
// R rows, n state width. float: the errors of sigma and tanh are those of gates.h.
#pragma once

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

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

}  // namespace rnnsearch::kernels

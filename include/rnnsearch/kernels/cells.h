// The elementwise parts of recurrent cells, without their matrix products. The gated unit is in gates.h.
// R rows, n state width. float: the errors of sigma and tanh are those of gates.h.
#pragma once

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// Long short-term memory (Hochreiter and Schmidhuber 1997; with forget gates, Gers et al. 2000):
///   g = tanh(.)  i, f, o = sigma(.)   c = f o c' + i o g   h = o o tanh(c)
/// The columns of gates are g | i | f | o. If cell_tanh and state (forward) or state_gradient (backward) are empty,
/// only the part up to c is computed: a caller that inserts a layer between c and the tanh continues with lstm_output.
template <class Real>
struct LstmForward {
  MatrixView<Real> gates;               // [R, 4n] in: sums before sigma and tanh; out: g, i, f, o
  ConstMatrixView<Real> previous_cell;  // [R, n] c'
  MatrixView<Real> cell, cell_tanh;     // [R, n] out: c, tanh(c)
  MatrixView<Real> state;               // [R, n] out: h
};
template <class Real>
void lstm_forward(const LstmForward<Real>& of);

template <class Real>
struct LstmBackward {
  ConstMatrixView<Real> gates, previous_cell, cell_tanh;  // from the forward pass
  ConstMatrixView<Real> state_gradient, cell_gradient;    // [R, n]
  MatrixView<Real> gates_gradient;                        // [R, 4n] out: gradient of the sums
  MatrixView<Real> previous_cell_gradient;                // [R, n] ADDS
};
template <class Real>
void lstm_backward(const LstmBackward<Real>& of);

/// h = o o tanh(y), where y is the output of a layer that is applied to c.
template <class Real>
struct LstmOutputForward {
  ConstMatrixView<Real> gates;  // [R, 4n] g, i, f, o
  MatrixView<Real> y_tanh;      // [R, n] in: y; out: tanh(y)
  MatrixView<Real> state;       // [R, n] out: h
};
template <class Real>
void lstm_output_forward(const LstmOutputForward<Real>& of);

template <class Real>
struct LstmOutputBackward {
  ConstMatrixView<Real> gates, y_tanh;   // from the forward pass
  ConstMatrixView<Real> state_gradient;  // [R, n]
  MatrixView<Real> gates_gradient;       // [R, 4n] out: only the columns of o, gradient of their sum
  MatrixView<Real> y_gradient;           // [R, n] out
};
template <class Real>
void lstm_output_backward(const LstmOutputBackward<Real>& of);

/// The gated unit whose reset gate acts after the product, as in cuDNN and PyTorch, with z as in Cho et al. (2014):
///   z = sigma(x_z + u_z)   r = sigma(x_r + u_r)   h~ = tanh(x_h + r o u_h)   h = (1 - z) o h' + z o h~
/// The columns of x and of u = h' U are h | z | r; u_h includes the bias b_U.
template <class Real>
struct ResetAfterForward {
  ConstMatrixView<Real> x, u;        // [R, 3n]
  ConstMatrixView<Real> previous;    // [R, n] h'
  MatrixView<Real> z, r, candidate;  // [R, n] out
  MatrixView<Real> state;            // [R, n] out
};
template <class Real>
void reset_after_forward(const ResetAfterForward<Real>& of);

template <class Real>
struct ResetAfterBackward {
  ConstMatrixView<Real> gradient;                      // [R, n] dL/dh
  ConstMatrixView<Real> u, previous, z, r, candidate;  // from the forward pass
  MatrixView<Real> x_gradient, u_gradient;             // [R, 3n] out
  MatrixView<Real> previous_gradient;                  // [R, n] ADDS the gradient except the part through u
};
template <class Real>
void reset_after_backward(const ResetAfterBackward<Real>& of);

/// Forward: y = max(y, 0) in place; NaN stays NaN. Backward: gradient = 0 where y is 0.
template <class Real>
void relu_forward(MatrixView<Real> y);
template <class Real>
void relu_backward(ConstMatrixView<Real> y, MatrixView<Real> gradient);

}  // namespace rnnsearch::kernels

// One step of the gated hidden unit (Cho et al. 2014; Bahdanau, Cho and Bengio 2015, appendix A.1.1 and A.2.1).
//   z = sigma(x W_z + h' U_z)   r = sigma(x W_r + h' U_r)   h~ = tanh(x W + (r o h') U + b)   h = (1 - z) o h' + z o h~
// n state width.
#pragma once

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/gemm.h"

namespace rnnsearch::layers {

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
/// scratch: [at least R, 2n].
template <class Real>
void gated_step_forward(const kernels::PackedMatrix<Real>& U, const GatedStep<Real>& step, MatrixView<Real> scratch);

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

}  // namespace rnnsearch::layers

// Layer normalisation (Ba, Kiros and Hinton 2016, equation 4): of each row a of summed inputs,
//   mu = mean(a)   sigma^2 = mean((a - mu)^2)   y = g o (a - mu) / sqrt(sigma^2 + epsilon) + b
// epsilon 1e-5, as the authors' code has it, lets a row of equal numbers pass. R rows, W units.
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

template <class Real>
struct NormaliseForward {
  ConstMatrixView<Real> a;             // [R, W]
  std::span<const Real> g, b;          // [W]
  MatrixView<Real> normalised;         // [R, W] out: y but for g and b
  MatrixView<Real> inverse_deviation;  // [R, 1] out
  MatrixView<Real> y;                  // [R, W] out; may be a
};
template <class Real>
void normalise_forward(const NormaliseForward<Real>& of);

template <class Real>
struct NormaliseBackward {
  ConstMatrixView<Real> y_gradient;                     // [R, W]
  std::span<const Real> g;                              // [W]
  ConstMatrixView<Real> normalised, inverse_deviation;  // of the forward pass
  MatrixView<Real> a_gradient;                          // [R, W] out; may be y_gradient
};
template <class Real>
void normalise_backward(const NormaliseBackward<Real>& of);

/// Of all rows, added from the first to the last: g_gradient [W] += y_gradient o normalised, b_gradient += y_gradient.
template <class Real>
void normalise_accumulate(ConstMatrixView<Real> y_gradient, ConstMatrixView<Real> normalised,
                          std::span<Real> g_gradient, std::span<Real> b_gradient);

}  // namespace rnnsearch::kernels

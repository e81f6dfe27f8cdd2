// Layer normalisation (Ba, Kiros and Hinton 2016, equation 4) of each row a of summed inputs:
//   mu = mean(a)   sigma^2 = mean((a - mu)^2)   y = g o (a - mu) / sqrt(sigma^2 + epsilon) + b
// epsilon is 1e-5, as in the authors' code; it prevents a division by 0 for a row of equal numbers. R rows, W units.
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

template <class Real>
struct NormaliseForward {
  ConstMatrixView<Real> a;             // [R, W]
  std::span<const Real> g, b;          // [W]
  MatrixView<Real> normalised;         // [R, W] out: (a - mu) / sqrt(sigma^2 + epsilon)
  MatrixView<Real> inverse_deviation;  // [R, 1] out: 1 / sqrt(sigma^2 + epsilon)
  MatrixView<Real> y;                  // [R, W] out; may be a
};
template <class Real>
void normalise_forward(const NormaliseForward<Real>& of);

template <class Real>
struct NormaliseBackward {
  ConstMatrixView<Real> y_gradient;                     // [R, W]
  std::span<const Real> g;                              // [W]
  ConstMatrixView<Real> normalised, inverse_deviation;  // from the forward pass
  MatrixView<Real> a_gradient;                          // [R, W] out; may be y_gradient
};
template <class Real>
void normalise_backward(const NormaliseBackward<Real>& of);

/// ADDS over all rows, from the first to the last: g_gradient [W] += y_gradient o normalised, b_gradient [W] +=
/// y_gradient.
template <class Real>
void normalise_accumulate(ConstMatrixView<Real> y_gradient, ConstMatrixView<Real> normalised,
                          std::span<Real> g_gradient, std::span<Real> b_gradient);

}  // namespace rnnsearch::kernels

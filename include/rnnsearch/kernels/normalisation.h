// Layer normalisation (Ba, Kiros and Hinton 2016, equation 4) of each row a of summed inputs:
//   mu = mean(a)   sigma^2 = mean((a - mu)^2)   y = g o (a - mu) / sqrt(sigma^2 + epsilon) + b
// epsilon is 1e-5, as in the authors' code; it prevents a division by 0 for a row of equal numbers. R rows, W units.
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

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

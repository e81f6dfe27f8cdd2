// Layer normalisation for one row, compiled for each instruction set.
#pragma once

#include <cstddef>

namespace rnnsearch::kernels {

template <class T>
struct NormalisationRows {
  /// Returns 1 / sqrt(sigma^2 + epsilon).
  T (*forward)(std::size_t n, const T* a, const T* g, const T* b, T* normalised, T* y);
  void (*backward)(std::size_t n, const T* y_gradient, const T* g, const T* normalised, T inverse_deviation,
                   T* a_gradient);
  /// Adds n columns of one row to the gradients.
  void (*accumulate)(std::size_t n, const T* y_gradient, const T* normalised, T* g_gradient, T* b_gradient);
};

}  // namespace rnnsearch::kernels

// One row of layer normalisation, as compiled for the processor at hand.
#pragma once

#include <cstddef>

namespace rnnsearch::kernels {

template <class T>
struct NormalisationRows {
  /// Returns the inverse deviation.
  T (*forward)(std::size_t n, const T* a, const T* g, const T* b, T* normalised, T* y);
  void (*backward)(std::size_t n, const T* y_gradient, const T* g, const T* normalised, T inverse_deviation,
                   T* a_gradient);
  /// n columns of one row.
  void (*accumulate)(std::size_t n, const T* y_gradient, const T* normalised, T* g_gradient, T* b_gradient);
};

template <class T>
const NormalisationRows<T>& normalisation_rows();

}  // namespace rnnsearch::kernels

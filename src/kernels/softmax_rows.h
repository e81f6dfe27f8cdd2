// One row of the softmax kernels, as compiled for the processor at hand.
#pragma once

#include <cstddef>

namespace rnnsearch::kernels {

template <class T>
struct SoftmaxRows {
  /// x = x + bias; the largest of them
  T (*add_bias)(std::size_t n, const T* bias, T* x);
  /// The sum of exp(x - largest).
  T (*sum_of_exp)(std::size_t n, T largest, const T* x);
  /// The same; x = exp(x - largest)
  T (*exp_and_sum)(std::size_t n, T largest, T* x);
  /// x = (x - largest) - log
  void (*subtract)(std::size_t n, T largest, T log, T* x);
  /// x = factor x
  void (*scale)(std::size_t n, T factor, T* x);
};

template <class T>
const SoftmaxRows<T>& softmax_rows();

}  // namespace rnnsearch::kernels

// The softmax kernels for one row, compiled for each instruction set.
#pragma once

#include <cstddef>

namespace rnnsearch::kernels {

template <class T>
struct SoftmaxRows {
  /// x = x + bias. Returns the largest element.
  T (*add_bias)(std::size_t n, const T* bias, T* x);
  /// Returns the sum of exp(x - largest).
  T (*sum_of_exp)(std::size_t n, T largest, const T* x);
  /// x = exp(x - largest). Returns the sum.
  T (*exp_and_sum)(std::size_t n, T largest, T* x);
  /// x = (x - largest) - log
  void (*subtract)(std::size_t n, T largest, T log, T* x);
  /// x = factor x
  void (*scale)(std::size_t n, T factor, T* x);
  /// to = log(exp(to + log_rest) + exp(from + log_share))
  void (*mix)(std::size_t n, T log_rest, T log_share, const T* from, T* to);
};

}  // namespace rnnsearch::kernels

// One row of the softmax kernels, as compiled for the processor at hand.
#pragma once

#include <cstddef>

namespace rnnsearch::kernels {

/// The log of a sum of exp(x), as largest x + log of the sum of exp(x - largest).
template <class T>
struct LogSum {
  T largest;
  double log;

  double minus(T x) const { return log + (static_cast<double>(largest) - static_cast<double>(x)); }
};

template <class T>
struct SoftmaxRows {
  LogSum<T> (*log_sum)(std::size_t n, const T* x);
  /// x = x - sum
  void (*subtract)(std::size_t n, LogSum<T> sum, T* x);
  /// x = exp(x - sum)
  void (*exp_minus)(std::size_t n, LogSum<T> sum, T* x);
};

template <class T>
const SoftmaxRows<T>& softmax_rows();

}  // namespace rnnsearch::kernels

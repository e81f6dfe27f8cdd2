// One row of the softmax kernels, as compiled for the processor at hand.
#pragma once

#include <cstddef>

namespace rnnsearch::kernels {

template <class T>
struct SoftmaxRows {
  /// log of the sum of exp(x); the maximum is subtracted before exp.
  double (*log_sum)(std::size_t n, const T* x);
  void (*subtract)(std::size_t n, T amount, T* x);
  /// x = exp(x - amount)
  void (*exp_minus)(std::size_t n, T amount, T* x);
};

template <class T>
const SoftmaxRows<T>& softmax_rows();

}  // namespace rnnsearch::kernels

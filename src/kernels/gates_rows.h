// The gate kernels for one row, compiled for each instruction set.
#pragma once

#include <cstddef>

namespace rnnsearch::kernels {

template <class T>
struct GatesRows {
  void (*gates_forward)(std::size_t n, const T* x, const T* recurrent, const T* previous, T* z, T* r, T* reset);
  void (*state_forward)(std::size_t n, const T* x, const T* recurrent, const T* z, const T* previous, T* candidate,
                        T* state);
  void (*state_backward)(std::size_t n, const T* gradient, const T* z, const T* candidate, const T* previous, T* x,
                         T* previous_gradient);
  void (*gates_backward)(std::size_t n, const T* reset_gradient, const T* r, const T* previous, T* x,
                         T* previous_gradient, T* reset);
  void (*tanh_forward)(std::size_t n, T* y);
  void (*tanh_backward)(std::size_t n, const T* y, T* gradient);
};

}  // namespace rnnsearch::kernels

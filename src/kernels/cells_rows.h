// The cell kernels for one row, compiled for each instruction set.
#pragma once

#include <cstddef>

namespace rnnsearch::kernels {

template <class T>
struct CellsRows {
  // cell_tanh and state, and state_gradient, may be nullptr.
  void (*lstm_forward)(std::size_t n, T* gates, const T* previous_cell, T* cell, T* cell_tanh, T* state);
  void (*lstm_backward)(std::size_t n, const T* gates, const T* previous_cell, const T* cell_tanh,
                        const T* state_gradient, const T* cell_gradient, T* gates_gradient, T* previous_cell_gradient);
  void (*lstm_output_forward)(std::size_t n, const T* gates, T* y_tanh, T* state);
  void (*lstm_output_backward)(std::size_t n, const T* gates, const T* y_tanh, const T* state_gradient,
                               T* gates_gradient, T* y_gradient);
  void (*reset_after_forward)(std::size_t n, const T* x, const T* u, const T* previous, T* z, T* r, T* candidate,
                              T* state);
  void (*reset_after_backward)(std::size_t n, const T* gradient, const T* u, const T* previous, const T* z, const T* r,
                               const T* candidate, T* x_gradient, T* u_gradient, T* previous_gradient);
};

}  // namespace rnnsearch::kernels

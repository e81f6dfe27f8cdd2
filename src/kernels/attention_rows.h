// One row of the attention kernels, as compiled for the processor at hand.
#pragma once

#include <cstddef>

namespace rnnsearch::kernels {

template <class T>
struct AttentionRows {
  void (*forward)(std::size_t Tx, std::size_t A, std::size_t C, const T* keys, std::size_t keys_stride,
                  const T* annotations, std::size_t annotations_stride, const T* v_a, const T* query, T* alpha,
                  T* context);
  // energy_gradient: scratch [Tx]
  void (*backward)(std::size_t Tx, std::size_t A, std::size_t C, const T* keys, std::size_t keys_stride,
                   const T* annotations, std::size_t annotations_stride, const T* v_a, const T* query, const T* alpha,
                   const T* context_gradient, T* energy_gradient, T* query_gradient, T* annotations_gradient,
                   std::size_t annotations_gradient_stride, T* keys_gradient, std::size_t keys_gradient_stride,
                   T* v_a_gradient);
};

template <class T>
const AttentionRows<T>& attention_rows();

}  // namespace rnnsearch::kernels

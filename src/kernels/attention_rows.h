// One row of the attention kernels, as compiled for the processor at hand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rnnsearch/kernels/bfloat16.h"

namespace rnnsearch::kernels {

/// Memory: the elements of keys and annotations, T or BFloat16.
template <class T, class Memory = T>
struct AttentionRows {
  void (*forward)(std::size_t Tx, std::size_t A, std::size_t C, const Memory* keys, std::size_t keys_stride,
                  const Memory* annotations, std::size_t annotations_stride, const T* v_a, const T* query, T* alpha,
                  T* context);
  // energy_gradient: scratch [Tx]
  void (*backward)(std::size_t Tx, std::size_t A, std::size_t C, const Memory* keys, std::size_t keys_stride,
                   const Memory* annotations, std::size_t annotations_stride, const T* v_a, const T* query,
                   const T* alpha, const T* context_gradient, T* energy_gradient, T* query_gradient, T* keys_gradient,
                   std::size_t keys_gradient_stride, T* v_a_gradient);
  // Of one sentence: `rows` of its steps. scratch: [steps * kAnnotationsBlock]
  void (*annotations)(std::size_t Tx, std::size_t C, std::size_t steps, const std::uint32_t* rows, const T* alpha,
                      std::size_t alpha_stride, const T* context_gradient, std::size_t context_gradient_stride,
                      T* scratch, T* annotations_gradient, std::size_t annotations_gradient_stride);
};

/// Columns that `annotations` takes together. Of all steps they are copied first: rows of the same width lie at the
/// same places of a cache, and would push each other out.
inline constexpr std::size_t kAnnotationsBlock = 64;

template <class T, class Memory>
const AttentionRows<T, Memory>& attention_rows();

}  // namespace rnnsearch::kernels

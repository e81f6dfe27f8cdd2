// The attention kernels for one row, compiled for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rnnsearch/kernels/bfloat16.h"

namespace rnnsearch::kernels {

/// Memory: the element type of keys and annotations, T or BFloat16.
template <class T, class Memory = T>
struct AttentionRows {
  void (*forward)(std::size_t Tx, std::size_t A, std::size_t C, const Memory* keys, std::size_t keys_stride,
                  const Memory* annotations, std::size_t annotations_stride, const T* v_a, const T* query, T* alpha,
                  T* context);
  // energy_gradient: scratch memory, [Tx]; guide: [Tx] or nullptr
  void (*backward)(std::size_t Tx, std::size_t A, std::size_t C, const Memory* keys, std::size_t keys_stride,
                   const Memory* annotations, std::size_t annotations_stride, const T* v_a, const T* query,
                   const T* alpha, const T* guide, const T* context_gradient, T* energy_gradient, T* query_gradient,
                   T* keys_gradient, std::size_t keys_gradient_stride, T* v_a_gradient);
  // For one sentence. rows: the rows of its steps, [steps]. scratch: scratch memory, [steps * kAnnotationsBlock]
  void (*annotations)(std::size_t Tx, std::size_t C, std::size_t steps, const std::uint32_t* rows, const T* alpha,
                      std::size_t alpha_stride, const T* context_gradient, std::size_t context_gradient_stride,
                      T* scratch, T* annotations_gradient, std::size_t annotations_gradient_stride);
};

/// Number of columns that `annotations` processes together. It copies these columns of all steps first, because rows
/// whose width is a power of two map to the same cache sets and would evict each other.
inline constexpr std::size_t kAnnotationsBlock = 64;

/// ADDS to energy_gradient [Tx] the gradient of -sum_j guide_j log alpha_j by the energies, of which alpha is the
/// softmax: alpha_j sum(guide) - guide_j. Nothing is divided by alpha.
template <class T>
inline void add_guide(std::size_t Tx, const T* alpha, const T* guide, T* energy_gradient) {
  T sum = 0;
  for (std::size_t j = 0; j < Tx; ++j) sum += guide[j];
  if (sum == 0) return;
  for (std::size_t j = 0; j < Tx; ++j) energy_gradient[j] += alpha[j] * sum - guide[j];
}

}  // namespace rnnsearch::kernels

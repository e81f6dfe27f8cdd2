// The kernel of annotations_backward for one sentence, compiled for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rnnsearch::kernels {

template <class T>
struct AttentionRows {
  // rows: the rows of its steps, [steps]. scratch: scratch memory, [steps * kAnnotationsBlock]
  void (*annotations)(std::size_t Tx, std::size_t C, std::size_t steps, const std::uint32_t* rows, const T* alpha,
                      std::size_t alpha_stride, const T* context_gradient, std::size_t context_gradient_stride,
                      T* scratch, T* annotations_gradient, std::size_t annotations_gradient_stride);
};

/// Number of columns that `annotations` processes together. It copies these columns of all steps first, because rows
/// whose width is a power of two map to the same cache sets and would evict each other.
inline constexpr std::size_t kAnnotationsBlock = 64;

}  // namespace rnnsearch::kernels

// Tiles at the right edge of a product.
#pragma once

#include <algorithm>
#include <cstddef>

namespace rnnsearch::kernels {

/// Computes c [rows, count] with full(c, stride), which writes kCols columns; uses a temporary tile if count is
/// smaller. rows <= kRows, count <= kCols.
template <std::size_t kRows, std::size_t kCols, class Full>
void whole_tile(std::size_t rows, std::size_t count, float* c, std::size_t c_stride, bool add, const Full& full) {
  if (count == kCols) {
    full(c, c_stride);
    return;
  }
  alignas(64) float whole[kRows * kCols];
  if (add) {
    for (std::size_t i = 0; i < rows; ++i) {
      std::copy_n(c + i * c_stride, count, whole + i * kCols);
      std::fill(whole + i * kCols + count, whole + (i + 1) * kCols, 0.0F);
    }
  }
  full(whole, kCols);
  for (std::size_t i = 0; i < rows; ++i) std::copy_n(whole + i * kCols, count, c + i * c_stride);
}

}  // namespace rnnsearch::kernels

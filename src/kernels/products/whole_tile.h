// Tiles at the right edge of a product.
#pragma once

#include <algorithm>
#include <cstddef>

namespace rnnsearch::kernels {

/// Computes c [rows, count] with full(c, stride), which writes `written` columns; uses a temporary tile if count is
/// smaller. rows <= kRows, count <= written <= kCols.
template <std::size_t kRows, std::size_t kCols, class Full>
void whole_tile(std::size_t rows, std::size_t count, std::size_t written, float* c, std::size_t c_stride, bool add,
                const Full& full) {
  if (count == written) {
    full(c, c_stride);
    return;
  }
  alignas(64) float whole[kRows * kCols];
  if (add) {
    for (std::size_t i = 0; i < rows; ++i) {
      std::copy_n(c + i * c_stride, count, whole + i * kCols);
      std::fill(whole + i * kCols + count, whole + i * kCols + written, 0.0F);
    }
  }
  full(whole, kCols);
  for (std::size_t i = 0; i < rows; ++i) std::copy_n(whole + i * kCols, count, c + i * c_stride);
}

}  // namespace rnnsearch::kernels

#include "rnnsearch/kernels/bfloat16.h"

#include <bit>
#include <cassert>
#include <cstddef>

#include "kernels/partition.h"

namespace rnnsearch::kernels {

void round_to_bfloat16(ConstMatrixView<float> from, MatrixView<BFloat16> to) {
  assert(from.rows == to.rows && from.cols == to.cols);
  for_each_row(from.rows, from.cols, [&](std::size_t i) {
    const float* source = from.row(i);
    BFloat16* target = to.row(i);
    for (std::size_t j = 0; j < from.cols; ++j) {
      const auto bits = std::bit_cast<std::uint32_t>(source[j]);
      const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
      const std::uint32_t nearest = bits + 0x7fff + (bits >> 16 & 1);
      target[j].bits = static_cast<std::uint16_t>((is_nan ? bits | 0x400000 : nearest) >> 16);
    }
  });
}

}  // namespace rnnsearch::kernels

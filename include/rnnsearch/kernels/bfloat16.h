// bfloat16: the upper 16 bits of a float, with 8 bits of significand.
#pragma once

#include <bit>
#include <cstdint>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

struct BFloat16 {
  std::uint16_t bits = 0;
};

/// Rounds to nearest, ties to even: the error is at most 2^-8 |value|, or 2^-134. Values above the largest bfloat16
/// become infinity, and NaN stays NaN.
inline BFloat16 nearest_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  const std::uint32_t nearest = bits + 0x7fff + (bits >> 16 & 1);
  return {static_cast<std::uint16_t>((is_nan ? bits | 0x400000 : nearest) >> 16)};
}

/// Rounds each value. Both matrices have the same shape.
void round_to_bfloat16(ConstMatrix from, MatrixView<BFloat16> to);

}  // namespace rnnsearch::kernels

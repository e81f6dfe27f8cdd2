// bfloat16: the upper 16 bits of a float, with 8 bits of significand.
#pragma once

#include <cstdint>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

struct BFloat16 {
  std::uint16_t bits = 0;
};

/// Rounds to nearest, ties to even: the error is at most 2^-8 |exact|, or 2^-134. Values above the largest bfloat16
/// become infinity, and NaN stays NaN. Both matrices have the same shape.
void round_to_bfloat16(ConstMatrix from, MatrixView<BFloat16> to);

}  // namespace rnnsearch::kernels

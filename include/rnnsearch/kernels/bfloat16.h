// Numbers of half the size: the upper half of a float, 8 bits of significand.
#pragma once

#include <cstdint>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

struct BFloat16 {
  std::uint16_t bits = 0;
};

/// To the nearest, to even where two are as near: within 2^-8 |exact|, or 2^-134. Past the largest there is infinity; a
/// NaN stays one.
void round_to_bfloat16(ConstMatrixView<float> from, MatrixView<BFloat16> to);

}  // namespace rnnsearch::kernels

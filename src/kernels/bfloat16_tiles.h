// Tiles whose operands are rounded to bfloat16, as the processor at hand multiplies them (bfloat16_unit() of
// rnnsearch/kernels/precision.h).
#pragma once

#include "kernels/product_tiles.h"

namespace rnnsearch::kernels {

/// Float sums: by the processor's unit, or emulated with the float tiles. A unit adds in an order of its own, and takes
/// numbers below the smallest normal one for 0.
const ProductTiles& bfloat16_tiles();
/// Those of the matrix unit, whether the processor has one or not (packing for it takes AVX512-BF16 only); nullptr
/// where they were not compiled.
const ProductTiles* matrix_unit_tiles();

}  // namespace rnnsearch::kernels

// Product tiles whose operands are rounded to bfloat16, for the unit of this processor (bfloat16_unit() of
// rnnsearch/kernels/precision.h).
#pragma once

#include "kernels/products/product_tiles.h"

namespace rnnsearch::kernels {

/// The tiles for the processor's unit, or an emulation with the float tiles if it has none. Sums are float. A unit adds
/// in an order of its own and treats subnormal numbers as 0.
const ProductTiles& bfloat16_tiles();
/// The tiles for the matrix unit, whether the processor has one or not (their packing functions need only AVX512-BF16);
/// nullptr if they were not compiled.
const ProductTiles* matrix_unit_tiles();

}  // namespace rnnsearch::kernels

// Product tiles whose operands are quantised to eight bits (Precision::kInt8 of rnnsearch/kernels/precision.h).
#pragma once

#include "kernels/products/product_tiles.h"

namespace rnnsearch::kernels {

/// The number of neighbouring k that share a scale.
inline constexpr std::size_t kInt8Group = 128;

/// The tiles for the processor's unit, or portable ones if it has none. All give the same bits: sums of a group are
/// integers and exact, and its scales and its share of an element are computed with one rounding each.
const ProductTiles& int8_tiles();
const ProductTiles& portable_int8_tiles();

}  // namespace rnnsearch::kernels

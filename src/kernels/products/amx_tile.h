// A tile of C on an AMX matrix unit: up to 32 rows by 32 columns, as two by two tile registers of 16 rows of 64 bytes.
// It is a template over `Unit`, so that tests can replace the unit by a model in plain code.
//
// A strip holds, for every 32 k, its rows one after the other, 32 bfloat16 each. A panel holds, for every 32 k, its
// left 16 columns and then its right 16 columns, each as 16 rows of pairs of two k, as registers are loaded. (Intel 64
// and IA-32
// Architectures Software Developer's Manual, volume 1, chapter 18.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/products/product_tiles.h"

namespace rnnsearch::kernels {

/// Tile registers: 0 to 3 hold the sums (upper left, upper right, lower left, lower right), 4 and 5 rows of the strip,
/// 6 and 7 columns of the panel.
///
/// Unit::shape(upper, lower): rows of the upper and lower registers; columns are 16 floats or 32 bfloat16.
/// Unit::zero<T>(), load<T>(from, stride in bytes), store<T>(to, stride), multiply<C, A, B>(): C += A B.
template <class Unit>
void amx_full_tile(std::size_t rows, std::size_t depth, const std::uint16_t* strip, const std::uint16_t* panel,
                   float* c, std::size_t c_stride, bool add, Ahead ahead) {
  constexpr std::size_t kHalf = 16, kDepth = 32, kCols = 32, kStepsAhead = 2, kRegisterRowBytes = 64;
  const std::size_t upper = std::min(rows, kHalf), lower = rows - upper, c_bytes = c_stride * sizeof(float);
  Unit::shape(upper, lower);
  if (add) {
    Unit::template load<0>(c, c_bytes);
    Unit::template load<1>(c + kHalf, c_bytes);
    if (lower > 0) {
      Unit::template load<2>(c + kHalf * c_stride, c_bytes);
      Unit::template load<3>(c + kHalf * c_stride + kHalf, c_bytes);
    }
  } else {
    Unit::template zero<0>();
    Unit::template zero<1>();
    if (lower > 0) {
      Unit::template zero<2>();
      Unit::template zero<3>();
    }
  }
  const Ahead::Share share = ahead.share(depth / kDepth);
  const std::uint16_t* next = strip + kStepsAhead * rows * kDepth;
  const auto prefetch_strip = [&next](std::size_t part) {
    for (std::size_t i = 0; i < kHalf / 2; ++i) __builtin_prefetch(next + (part * kHalf / 2 + i) * kDepth, 0, 3);
  };
  for (std::size_t k = 0; k < depth; k += kDepth) {
    // Strips come from the L2 cache, and registers are loaded faster than the hardware prefetcher delivers them. The
    // strip is therefore prefetched in portions of 8 lines between the instructions of the unit; all lines at once
    // would stall it. If there are fewer rows than a register has, some lines are prefetched twice.
    Unit::template load<4>(strip, kRegisterRowBytes);
    Unit::template load<6>(panel, kRegisterRowBytes);
    prefetch_strip(0);
    Unit::template load<7>(panel + kHalf * kDepth, kRegisterRowBytes);
    Unit::template multiply<0, 4, 6>();
    prefetch_strip(1);
    Unit::template multiply<1, 4, 7>();
    ahead.prefetch(share);
    if (lower > 0) {
      Unit::template load<5>(strip + kHalf * kDepth, kRegisterRowBytes);
      prefetch_strip(2);
      Unit::template multiply<2, 5, 6>();
      prefetch_strip(3);
      Unit::template multiply<3, 5, 7>();
    }
    strip += rows * kDepth;
    panel += kCols * kDepth;
    next += rows * kDepth;
  }
  Unit::template store<0>(c, c_bytes);
  Unit::template store<1>(c + kHalf, c_bytes);
  if (lower > 0) {
    Unit::template store<2>(c + kHalf * c_stride, c_bytes);
    Unit::template store<3>(c + kHalf * c_stride + kHalf, c_bytes);
  }
}

}  // namespace rnnsearch::kernels

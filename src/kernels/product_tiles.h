// The innermost part of a float product, as compiled for the processor at hand: a tile of C, a few rows by a few
// vectors, whose sums stay in registers while all of K goes by.
//
// Both operands are packed first (a float b of few uses may be read where it lies), so that a tile reads them from
// beginning to end: op(a) in strips of at most max_rows rows, op(b) in panels of `cols` columns (the last one filled up
// with zeros). The first k of a strip of R rows lie in its first k R elements, those of a panel in its first k `cols`,
// for any k that is a multiple of depth_step: K can be cut anywhere there.
#pragma once

#include <algorithm>
#include <cstddef>

namespace rnnsearch::kernels {

/// What the next tile needs and the first-level cache does not have, for this one to ask for while it is computed: a
/// few lines at a time, as the processor stands still when it has asked for more than some dozen.
struct Ahead {
  static constexpr std::size_t kLine = 64;  // bytes

  const std::byte* panel = nullptr;  // of the next panel, packed
  std::size_t lines = 0;
  const float* c = nullptr;  // rows of c
  std::size_t rows = 0, cols = 0, stride = 0;

  struct Share {
    std::size_t lines, rows;
  };
  /// What to ask for at each of so many steps.
  Share share(std::size_t steps) const { return {lines / steps + 1, rows / steps + 1}; }
  /// For the next share, or what is left.
  void ask(const Share& share) {
    for (std::size_t i = std::min(share.lines, lines); i > 0; --i, --lines, panel += kLine) {
      __builtin_prefetch(panel, 0, 2);
    }
    for (std::size_t i = std::min(share.rows, rows); i > 0; --i, --rows, c += stride) {
      for (std::size_t j = 0; j < cols; j += kLine / sizeof(float)) __builtin_prefetch(c + j, 1);
    }
  }
};

struct ProductTiles {
  std::size_t max_rows;    // of a strip
  std::size_t row_step;    // a strip has a multiple of it; only the last rows of op(a) may be fewer
  std::size_t cols;        // of a panel
  std::size_t depth_step;  // K is filled up with zeros to a multiple of it
  std::size_t element;     // bytes of a packed one

  /// A strip: element (i, k) of op(a) from a[i * stride + k], or, transposed, from a[k * stride + i].
  void (*pack_strip)(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, void* strip);
  void (*pack_strip_transposed)(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, void* strip);
  /// A panel: element (k, j) of op(b) from b[k * stride + j], or, transposed, from b[j * stride + k]. count <= cols.
  void (*pack_panel)(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel);
  void (*pack_panel_transposed)(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel);

  /// c [rows, count] = or += strip times panel. `depth` is a multiple of depth_step. Rows of the panel are panel_stride
  /// elements apart: `cols`; or the stride of a float matrix that is read where it lies, `cols` columns of it.
  void (*tile)(std::size_t rows, std::size_t count, std::size_t depth, const void* strip, const void* panel,
               std::size_t panel_stride, float* c, std::size_t c_stride, bool add, Ahead ahead);
  bool reads_unpacked;  // whether it can do the latter

  std::size_t padded(std::size_t depth) const { return (depth + depth_step - 1) / depth_step * depth_step; }
};

/// float operands, float sums: each element is c + a_0 b_0 + a_1 b_1 + ... with one rounding a term, in this order,
/// however K, M and N are cut, and on every processor that has fused multiply-add.
const ProductTiles& float_tiles();
/// Float operands rounded to bfloat16 when they are packed: what an emulation is made of. For any processor.
const ProductTiles& emulated_bfloat16_tiles();

/// to[k * to_stride + i] = from[i * from_stride + k], elements of 32 bits, i < rows, k < depth. What lies between the
/// rows of `to` may be overwritten.
using Transpose = void (*)(std::size_t rows, std::size_t depth, const float* from, std::size_t from_stride, float* to,
                           std::size_t to_stride);
Transpose transposition();

/// Of the precision that is set.
const ProductTiles& current_tiles();

}  // namespace rnnsearch::kernels

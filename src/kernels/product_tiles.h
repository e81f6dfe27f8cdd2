// The innermost part of a float product, as compiled for the processor at hand: a tile of C, a few rows by a few
// vectors, whose sums stay in registers while all of K goes by.
//
// Both operands are packed first (a float b that only one strip uses may be read where it lies), so that a tile reads
// them from beginning to end: op(a) in strips of at most max_rows rows, op(b) in panels of `cols` columns (the last one
// filled up with zeros). The first k of a strip of R rows lie in its first k R elements, those of a panel in its first
// k `cols`, for any k that is a multiple of depth_step: K can be cut anywhere there.
#pragma once

#include <algorithm>
#include <cstddef>

#include "rnnsearch/base/ceil_div.h"

namespace rnnsearch::kernels {

/// What tiles after this one need, for it to ask for while it is computed: a part of the next panel, into the
/// second-level cache, and the next tile's sums, into the first. A few lines at a time: a processor that has asked for
/// more than some dozen stands still until they come.
struct Ahead {
  static constexpr std::size_t kLine = 64;  // bytes

  const std::byte* panel = nullptr;  // this tile's part of the next panel, if that is packed
  std::size_t lines = 0;             // of it
  const float* c = nullptr;          // the next tile's sums: `rows` rows of `cols`, `stride` apart
  std::size_t rows = 0, cols = 0, stride = 0;

  struct Share {
    std::size_t lines, rows;
  };
  /// What to ask for at each of so many steps, at least one.
  Share share(std::size_t steps) const { return {ceil_div(lines, steps), ceil_div(rows, steps)}; }
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
  std::size_t row_step;    // max_rows and the rows of strips are multiples of it; the last strip may have fewer
  std::size_t cols;        // of a panel
  std::size_t depth_step;  // K is filled up with zeros to a multiple of it
  std::size_t element;     // bytes of a packed one

  /// A strip: element (i, k) of op(a) from a[i * stride + k], or, transposed, from a[k * stride + i].
  void (*pack_strip)(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, void* strip);
  void (*pack_strip_transposed)(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, void* strip);
  /// A panel: element (k, j) of op(b) from b[k * stride + j], or, transposed, from b[j * stride + k]. count <= cols.
  void (*pack_panel)(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel);
  void (*pack_panel_transposed)(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel);

  /// c [rows, count] = or += strip times panel. `depth` > 0 is a multiple of depth_step. panel_stride: `cols` for a
  /// packed panel; where reads_unpacked, also the stride of a float matrix read where it lies, `cols` columns of it.
  /// `ahead` is asked for meanwhile.
  void (*tile)(std::size_t rows, std::size_t count, std::size_t depth, const void* strip, const void* panel,
               std::size_t panel_stride, float* c, std::size_t c_stride, bool add, Ahead ahead);
  bool reads_unpacked;

  std::size_t padded(std::size_t depth) const { return ceil_div(depth, depth_step) * depth_step; }
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

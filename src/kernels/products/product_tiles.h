// The innermost part of a float product, compiled for each instruction set: a tile of C, a few rows by a few vectors,
// whose sums stay in registers during the loop over K.
//
// A tile reads a strip of op(a), at most max_rows rows, and a panel of op(b), `cols` columns. Both can be packed, so
// that it reads them sequentially (the last panel is padded with zeros); tiles of float can also read operands as they
// lie, in place. The first k of a strip of R rows are its first strip_bytes(R, k) bytes, and those of a panel its first
// panel_bytes(k), for any k that is a multiple of depth_step; K can be divided at any such k.
#pragma once

#include <algorithm>
#include <cstddef>

#include "rnnsearch/base/parallel.h"

namespace rnnsearch::kernels {

/// Data of later tiles that a tile prefetches while it is computed: a part of the next panel into the L2 cache, and the
/// sums of the next tile into the L1 cache. It prefetches a few lines at a time, because a processor with more than
/// about a dozen outstanding requests stalls.
struct Ahead {
  static constexpr std::size_t kLine = 64;  // bytes

  const std::byte* panel = nullptr;  // the part of the next panel that this tile prefetches, if that panel is packed
  std::size_t lines = 0;             // number of cache lines of that part
  const float* c = nullptr;          // sums of the next tile: `rows` rows of `cols` elements, `stride` apart
  std::size_t rows = 0, cols = 0, stride = 0;

  /// Its nth of `parts` shares of a panel of so many bytes.
  static Ahead part_of(const std::byte* panel, std::size_t bytes, std::size_t nth, std::size_t parts) {
    const std::size_t all = bytes / kLine, first = all * nth / parts;
    return {.panel = panel + first * kLine, .lines = all * (nth + 1) / parts - first};
  }

  struct Share {
    std::size_t lines, rows;
  };
  /// The lines and rows to prefetch in each of `steps` steps. REQUIRES: steps >= 1.
  Share share(std::size_t steps) const { return {ceil_div(lines, steps), ceil_div(rows, steps)}; }
  /// Prefetches the next share, or what is left.
  void prefetch(const Share& share) {
    for (std::size_t i = std::min(share.lines, lines); i > 0; --i, --lines, panel += kLine) {
      __builtin_prefetch(panel, 0, 2);
    }
    for (std::size_t i = std::min(share.rows, rows); i > 0; --i, --rows, c += stride) {
      for (std::size_t j = 0; j < cols; j += kLine / sizeof(float)) __builtin_prefetch(c + j, 1);
    }
  }
};

/// A strip or a panel. Packed, it has a stride of 0. Read in place, `elements` are floats of the operand as it is
/// stored, and `stride` is the number of floats from one row to the next: a row of a strip is one of op(a), and row k
/// of a panel has `cols` columns of op(b).
struct TileOperand {
  const void* elements;
  std::size_t stride = 0;
};

struct TileShape {
  std::size_t max_rows;    // maximum number of rows of a strip
  std::size_t row_step;    // max_rows and the rows of all strips but the last are multiples of it
  std::size_t cols;        // number of columns of a panel
  std::size_t depth_step;  // K is padded with zeros to a multiple of it
  std::size_t strip_step;  // bytes of a row of a strip for each depth_step
  std::size_t panel_step;  // bytes of a column of a panel for each depth_step
};

/// `count` rows of a strip, or columns of a panel, at most as many as it has.
using Pack = void (*)(std::size_t count, std::size_t depth, const float* from, std::size_t stride, void* to);
struct Packing {
  /// Packs a strip: element (i, k) of op(a) is a[i * stride + k], or, transposed, a[k * stride + i].
  Pack pack_strip, pack_strip_transposed;
  /// Packs a panel: element (k, j) of op(b) is b[k * stride + j], or, transposed, b[j * stride + k].
  Pack pack_panel, pack_panel_transposed;
};

struct ProductTiles : TileShape, Packing {
  /// c [rows, count] = strip times panel, or += if `add` is set. `depth` > 0 is a multiple of depth_step. Only if
  /// reads_in_place, and then depth_step is 1, the operands need not be packed. Prefetches `ahead` at the same time.
  void (*tile)(std::size_t rows, std::size_t count, std::size_t depth, TileOperand strip, TileOperand panel, float* c,
               std::size_t c_stride, bool add, Ahead ahead);
  bool reads_in_place;

  /// The arithmetic of a full tile of depth steps * depth_step without its loads, which is the most that the unit can
  /// do: adds steps * depth_step to each of sums [max_rows, cols], which it loads and stores once, in an order of its
  /// own.
  void (*arithmetic)(std::size_t steps, float* sums);

  std::size_t padded(std::size_t depth) const { return ceil_div(depth, depth_step) * depth_step; }
  /// `depth` is a multiple of depth_step.
  std::size_t strip_bytes(std::size_t rows, std::size_t depth) const { return depth / depth_step * rows * strip_step; }
  std::size_t panel_bytes(std::size_t depth) const { return depth / depth_step * cols * panel_step; }
  /// The number of k of a panel that take so many bytes.
  std::size_t depth_in(std::size_t bytes) const { return bytes * depth_step / panel_bytes(depth_step); }
};

/// Divides M >= 1 rows into the smallest possible number of strips of at most max_rows rows. Their sizes differ by at
/// most one row_step, except that the last one holds the rest: much shorter strips would use the processor badly.
/// max_rows must be a multiple of row_step.
class Strips {
 public:
  Strips(std::size_t max_rows, std::size_t row_step, std::size_t M)
      : count(ceil_div(M, max_rows)), M_(M), step_(row_step) {
    const std::size_t steps = ceil_div(M, row_step);
    few_ = steps / count;
    longer_ = steps % count;
  }
  const std::size_t count;

  std::size_t first(std::size_t strip) const { return std::min(M_, (strip * few_ + std::min(strip, longer_)) * step_); }
  std::size_t rows(std::size_t strip) const { return first(strip + 1) - first(strip); }

 private:
  std::size_t M_, step_, few_, longer_;  // the first `longer_` strips have few_ + 1 steps, the others few_
};

/// For tiles at the right edge of a product: computes c [rows, count] with full(c, stride), which writes `written`
/// columns; uses a temporary tile if count is smaller. rows <= kRows, count <= written <= kCols.
template <std::size_t kRows, std::size_t kCols, class Full>
void whole_tile(std::size_t rows, std::size_t count, std::size_t written, float* c, std::size_t c_stride, bool add,
                const Full& full) {
  if (count == written) {
    full(c, c_stride);
    return;
  }
  alignas(64) float whole[kRows * kCols];
  if (add) {
    for (std::size_t i = 0; i < rows; ++i) {
      std::copy_n(c + i * c_stride, count, whole + i * kCols);
      std::fill(whole + i * kCols + count, whole + i * kCols + written, 0.0F);
    }
  }
  full(whole, kCols);
  for (std::size_t i = 0; i < rows; ++i) std::copy_n(whole + i * kCols, count, c + i * c_stride);
}

/// The cache sizes of the processor. They determine how products are divided into blocks, but not their results.
struct Caches {
  std::size_t level1 = 0;  // bytes of the L1 data cache of one core
  std::size_t level2 = 0;  // bytes of the L2 cache of one core
  std::size_t level3 = 0;  // bytes of the L3 cache, which several cores share; 0 if the system does not tell
};

/// The sizes that the system reports, or those of a common small core if it reports none.
const Caches& caches();

/// The number of k in a block, a multiple of depth_step: so many that loading and storing the sums of a tile, once for
/// each block, costs little, and so few that a panel leaves room in the L2 cache for strips. REQUIRES: depth > 0.
std::size_t depth_block(const ProductTiles& tiles, std::size_t depth);

/// Tiles with float operands and float sums. Each element is c + a_0 b_0 + a_1 b_1 + ... in this order with one
/// rounding for each term, however K, M and N are divided, on every processor that has fused multiply-add.
const ProductTiles& float_tiles();
/// Tiles for bfloat16 without a unit for it: they round float operands while packing, and have the bits of AVX512-BF16
/// on every processor that has fused multiply-add.
const ProductTiles& emulated_bfloat16_tiles();

/// Tiles whose operands are rounded to bfloat16 for the processor's unit, or the emulation if it has none. Sums are
/// float. A unit adds in an order of its own and treats subnormal numbers as 0.
const ProductTiles& bfloat16_tiles();
/// The tiles for the matrix unit, whether the processor has one or not (their packing functions need only AVX512-BF16);
/// nullptr if they were not compiled.
const ProductTiles* matrix_unit_tiles();

/// Tiles whose operands are quantised to eight bits (Precision::kInt8) for the processor's unit, or portable ones if it
/// has none. All give the same bits: sums of a group are integers and exact, and its scales and its share of an element
/// are computed with one rounding each.
const ProductTiles& int8_tiles();
const ProductTiles& portable_int8_tiles();

/// to[k * to_stride + i] = from[i * from_stride + k] for elements of 32 bits, i < rows, k < depth. Elements between the
/// rows of `to` may be overwritten.
using Transpose = void (*)(std::size_t rows, std::size_t depth, const float* from, std::size_t from_stride, float* to,
                           std::size_t to_stride);
Transpose transposition();

/// The tiles for the precision that is set (precision.h).
const ProductTiles& current_tiles();

}  // namespace rnnsearch::kernels

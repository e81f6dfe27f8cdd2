#include "rnnsearch/kernels/gemm.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <functional>

#include "kernels/products/product_tiles.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::kernels {

const Caches& caches() {
#ifdef _SC_LEVEL2_CACHE_SIZE  // an extension of the GNU C library
  const auto size = [](int name, std::size_t otherwise) {
    const long bytes = sysconf(name);
    return bytes > 0 ? static_cast<std::size_t>(bytes) : otherwise;
  };
  static const Caches sizes = {size(_SC_LEVEL1_DCACHE_SIZE, 32 << 10), size(_SC_LEVEL2_CACHE_SIZE, 256 << 10),
                               size(_SC_LEVEL3_CACHE_SIZE, 0)};
#else
  static const Caches sizes = {32 << 10, 256 << 10, 0};
#endif
  return sizes;
}

std::size_t depth_block(const ProductTiles& tiles, std::size_t depth) {
  const std::size_t most = std::max<std::size_t>(128, tiles.depth_in(caches().level2 / 8));
  return tiles.padded(ceil_div(depth, ceil_div(depth, most)));
}

namespace {

enum class Layout { kAsIs, kTransposed };

// An operand as it is stored.
struct Operand {
  const float* data;
  std::size_t stride;
  Layout layout;

  // The address of element (i, k) of op(a), or (k, j) of op(b).
  const float* of_a(std::size_t i, std::size_t k) const {
    return layout == Layout::kAsIs ? data + i * stride + k : data + k * stride + i;
  }
  const float* of_b(std::size_t k, std::size_t j) const {
    return layout == Layout::kAsIs ? data + k * stride + j : data + j * stride + k;
  }
};

// Prefetches `count` floats of each of these rows, because the hardware prefetcher does not follow large strides.
void prefetch(const float* from, std::size_t rows, std::size_t count, std::size_t stride) {
  constexpr std::size_t kLine = 64 / sizeof(float);
  for (std::size_t i = 0; i < rows; ++i, from += stride) {
    for (std::size_t j = 0; j < count; j += kLine) __builtin_prefetch(from + j, 0, 2);
  }
}

// Whether rows of `stride` floats are spread over the sets of a cache. Rows that are a multiple of 2 KiB apart begin in
// one or two of the sets that an L1 cache of 64 sets has and in few of an L2 cache, where they would evict one another,
// so they are packed.
bool spreads(std::size_t stride) { return stride * sizeof(float) % 2048 != 0; }

// Packing reads rows of an operand in long runs: a few k of several panels, or strips, at a time.
constexpr std::size_t kDepthsAtOnce = 32;
std::size_t panels_at_once(const ProductTiles& tiles) { return std::clamp<std::size_t>(tiles.depth_in(1024), 1, 8); }

// Packs k in [first, first + depth) and columns [column, column + count) of b into panels that are `panel_bytes` apart.
void pack_panels_of(const ProductTiles& tiles, const Operand& b, std::size_t first, std::size_t depth,
                    std::size_t column, std::size_t count, std::byte* panels, std::size_t panel_bytes) {
  const bool as_is = b.layout == Layout::kAsIs;
  const auto pack = as_is ? tiles.pack_panel : tiles.pack_panel_transposed;
  const std::size_t step = as_is ? tiles.padded(kDepthsAtOnce) : depth;
  for (std::size_t k = 0; k < depth; k += step) {
    if (as_is && k + step < depth)
      prefetch(b.of_b(first + k + step, column), std::min(step, depth - k - step), count, b.stride);
    std::byte* to = panels + tiles.panel_bytes(k);
    for (std::size_t j = 0; j < count; j += tiles.cols, to += panel_bytes) {
      pack(std::min(tiles.cols, count - j), std::min(step, depth - k), b.of_b(first + k, column + j), b.stride, to);
    }
  }
}

// Memory for `bytes` bytes of packed elements, reused from product to product.
std::byte* space_for(std::size_t bytes, Buffer<float>& buffer) {
  return reinterpret_cast<std::byte*>(buffer.shape(1, ceil_div(bytes, sizeof(float))).data);
}

class Product {
 public:
  Product(const ProductTiles& tiles, const Operand& a, MatrixView<float> c, std::size_t K, Into into)
      : tiles_(tiles),
        a_(a),
        c_(c),
        K_(K),
        into_(into),
        a_in_place_(tiles.reads_in_place && a.layout == Layout::kAsIs && spreads(a.stride)),
        strips_(tiles.max_rows, tiles.row_step, c.rows),
        panels_(ceil_div(c.cols, tiles.cols)) {
    assert(!a_in_place_ || (a.stride > 0 && tiles.depth_step == 1));
  }

  // panels: all panels of b, packed one after the other.
  void times_packed(const std::byte* panels) {
    const std::size_t bytes = panel_bytes(K_);
    for_slabs([&](const Slab& slab) {
      for_parts(grid(slab, true), 0, panels_, [&](const Part& part) {
        add_part(slab, part, [&](std::size_t k, std::size_t, std::size_t p) {
          // The panel after the last one of a part is prefetched too: it usually belongs to the thread's next part.
          const bool last = p + 1 == panels_;
          const std::byte* const here = panels + p * bytes + tiles_.panel_bytes(slab.first + k);
          return Panel{{here}, last ? nullptr : here + bytes};
        });
      });
    });
  }

  void times(const Operand& b) {
    // With a single strip every element of b is used once, so packing b does not pay off.
    const bool in_place = b.layout == Layout::kAsIs && tiles_.reads_in_place && strips_.count == 1;
    for_slabs([&](const Slab& slab) {
      const Grid pieces = grid(slab, in_place);
      if (in_place) {
        times_in_place(b, slab, pieces);
      } else if (pieces.rows == 1) {
        times_packed_by_part(b, slab, pieces);
      } else {
        times_packed_first(b, slab, pieces);
      }
    });
  }

 private:
  static constexpr std::size_t kSlabBytes = 8 << 20;
  static constexpr std::size_t kBytesToPack = 1 << 14;  // bytes packed in a piece; takes longer than scheduling it
  // At the end of a product, threads wait for half a piece on average; scheduling a piece takes less than a
  // microsecond.
  static constexpr std::size_t kPiecesPerThread = 8;
  static constexpr std::size_t kTermsPerPiece = 1 << 21, kFewRows = 12;

  // The range [first, first + count) of K, with op(a) of this range, unless it is read in place.
  struct Slab {
    std::size_t first, count;
    const std::byte* packed_a;
  };

  // The number of pieces into which the rows and the columns of c are divided.
  struct Grid {
    std::size_t rows, cols;
  };

  struct Part {
    std::size_t first_strip, last_strip, first_panel, last_panel;
  };

  struct Panel {
    TileOperand operand;
    const std::byte* next = nullptr;  // the next panel, to be prefetched, if it is packed
  };

  // Divides K into slabs, so that a packed op(a) leaves room in the L3 cache, and calls work for each slab. Also if
  // op(a) is read in place, because all rows then use a part of op(b) while it is in that cache.
  template <class Work>
  void for_slabs(const Work& work) const {
    const std::size_t most =
        std::max<std::size_t>(1024, kSlabBytes * tiles_.depth_step / tiles_.strip_bytes(c_.rows, tiles_.depth_step));
    const std::size_t depth = tiles_.padded(ceil_div(K_, ceil_div(K_, most)));
    for (std::size_t first = 0; first < K_; first += depth) {
      const std::size_t count = std::min(depth, K_ - first);
      work(Slab{first, count, a_in_place_ ? nullptr : pack_a(first, count)});
    }
  }

  std::size_t columns(std::size_t panel) const { return std::min(tiles_.cols, c_.cols - panel * tiles_.cols); }
  std::size_t panel_bytes(std::size_t depth) const { return tiles_.panel_bytes(tiles_.padded(depth)); }

  const std::byte* pack_a(std::size_t first, std::size_t count) const {
    thread_local Buffer<float> buffer;  // one for each calling thread is enough, because products are not nested
    const std::size_t depth = tiles_.padded(count), bytes = tiles_.strip_bytes(c_.rows, depth);
    std::byte* const to = space_for(bytes, buffer);
    const auto pack = a_.layout == Layout::kAsIs ? tiles_.pack_strip : tiles_.pack_strip_transposed;
    const std::size_t step = a_.layout == Layout::kAsIs ? depth : tiles_.padded(kDepthsAtOnce);
    const std::size_t pieces = std::min(strips_.count, ceil_div(bytes, kBytesToPack));
    parallel_for(pieces, [&](std::size_t piece) {
      const std::size_t first_row = strips_.first(strips_.count * piece / pieces);
      const std::size_t last_row = strips_.first(strips_.count * (piece + 1) / pieces);
      for (std::size_t k = 0; k < count; k += step) {
        if (a_.layout == Layout::kTransposed && k + step < count) {
          prefetch(a_.of_a(first_row, first + k + step), std::min(step, count - k - step), last_row - first_row,
                   a_.stride);
        }
        for (std::size_t s = strips_.count * piece / pieces; s < strips_.count * (piece + 1) / pieces; ++s) {
          const std::size_t row = strips_.first(s), rows = strips_.rows(s);
          pack(rows, std::min(step, count - k), a_.of_a(row, first + k), a_.stride,
               to + tiles_.strip_bytes(row, depth) + tiles_.strip_bytes(rows, k));
        }
      }
    });
    return to;
  }

  // Packs panels [first, last) into `to`, one after the other.
  void pack_b(const Operand& b, const Slab& slab, std::size_t first, std::size_t last, std::byte* to) const {
    const std::size_t column = first * tiles_.cols;
    pack_panels_of(tiles_, b, slab.first, slab.count, column, std::min(last * tiles_.cols, c_.cols) - column, to,
                   panel_bytes(slab.count));
  }

  void times_in_place(const Operand& b, const Slab& slab, const Grid& pieces) const {
    for_parts(pieces, 0, panels_, [&](const Part& part) {
      add_part(slab, part, [&](std::size_t k, std::size_t depth, std::size_t p) {
        const std::size_t column = p * tiles_.cols, cols = columns(p), first = slab.first + k;
        if (cols == tiles_.cols) return Panel{{b.of_b(first, column), b.stride}};
        thread_local Buffer<float> buffer;
        std::byte* const panel = space_for(panel_bytes(depth), buffer);
        pack_panels_of(tiles_, b, first, std::min(depth, slab.count - k), column, cols, panel, 0);
        return Panel{{panel}};
      });
    });
  }

  // If each piece has all rows, it packs the panels that it needs and uses them while they are in its cache.
  void times_packed_by_part(const Operand& b, const Slab& slab, const Grid& pieces) const {
    for_parts(pieces, 0, panels_, [&](const Part& part) {
      thread_local Buffer<float> buffer;
      const std::size_t at_once = panels_at_once(tiles_);
      for (std::size_t p = part.first_panel; p < part.last_panel; p += at_once) {
        const Part some{part.first_strip, part.last_strip, p, std::min(p + at_once, part.last_panel)};
        std::byte* const packed = space_for(at_once * panel_bytes(slab.count), buffer);
        pack_b(b, slab, p, some.last_panel, packed);
        add_packed(slab, some, packed, p);
      }
    });
  }

  // If several pieces share a panel, panels are packed beforehand, as many at a time as leave room in the L3 cache.
  void times_packed_first(const Operand& b, const Slab& slab, const Grid& pieces) const {
    const std::size_t bytes = panel_bytes(slab.count);
    const std::size_t chunks = ceil_div(panels_, std::max<std::size_t>(1, kSlabBytes / bytes));
    thread_local Buffer<float> buffer;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const std::size_t begin = panels_ * chunk / chunks, end = panels_ * (chunk + 1) / chunks;
      std::byte* const packed = space_for((end - begin) * bytes, buffer);
      const std::size_t at_once = panels_at_once(tiles_);
      parallel_for(ceil_div(end - begin, at_once), [&](std::size_t i) {
        const std::size_t first = begin + i * at_once;
        pack_b(b, slab, first, std::min(first + at_once, end), packed + (first - begin) * bytes);
      });
      for_parts(pieces, begin, end, [&](const Part& part) { add_packed(slab, part, packed, begin); });
    }
  }

  // Chooses so many pieces that all threads are busy to the end, and among such grids the one with the least traffic
  // from the outer caches, since each piece reads its part of both operands.
  Grid grid(const Slab& slab, bool packed) const {
    // A product with few rows takes as long as one with a dozen rows, or a strip, because it waits for b.
    const std::size_t rows_of_work = std::max({c_.rows, tiles_.max_rows, kFewRows});
    const std::size_t terms = rows_of_work * c_.cols * slab.count, depth = tiles_.padded(slab.count);
    const std::size_t wanted = std::clamp<std::size_t>(terms / kTermsPerPiece, 1, kPiecesPerThread * thread_count());
    // The strips of a piece for one block must stay in half of the L2 cache during the loop over its panels.
    const std::size_t strip_bytes = tiles_.strip_bytes(tiles_.max_rows, depth_block(tiles_, depth));
    const std::size_t strips_per_piece = std::max<std::size_t>(4, caches().level2 / 2 / strip_bytes);
    Grid best{};
    std::size_t least = 0;
    for (std::size_t rows = ceil_div(strips_.count, strips_per_piece); rows <= strips_.count; ++rows) {
      const std::size_t cols = std::min(panels_, ceil_div(wanted, rows));
      // Panels that are packed for several pieces are written to these caches and read back.
      const std::size_t shared = rows > 1 && !packed ? 2 * c_.cols : 0;
      const std::size_t delivered = cols * c_.rows + rows * c_.cols + shared;
      if (best.rows == 0 || delivered < least) best = {rows, cols}, least = delivered;
      if (rows >= wanted) break;
    }
    return best;
  }

  // Calls work(part) for all parts of panels [begin, end).
  template <class Work>
  void for_parts(const Grid& pieces, std::size_t begin, std::size_t end, const Work& work) const {
    const std::size_t panels = end - begin;
    parallel_for(pieces.rows * pieces.cols, [&](std::size_t piece) {
      const std::size_t row = piece / pieces.cols, col = piece % pieces.cols;
      work(Part{strips_.count * row / pieces.rows, strips_.count * (row + 1) / pieces.rows,
                begin + panels * col / pieces.cols, begin + panels * (col + 1) / pieces.cols});
    });
  }

  // Adds the terms of a slab with packed panels. panels: the packed panels from number `begin` on.
  void add_packed(const Slab& slab, const Part& part, const std::byte* panels, std::size_t begin) const {
    const std::size_t bytes = panel_bytes(slab.count);
    add_part(slab, part, [&](std::size_t k, std::size_t, std::size_t p) {
      const std::byte* const here = panels + (p - begin) * bytes + tiles_.panel_bytes(k);
      return Panel{{here}, p + 1 < part.last_panel ? here + bytes : nullptr};
    });
  }

  // Adds the terms of a slab. panel_at(k, depth, p) returns panel p for the range [k, k + depth) of the slab.
  template <class PanelAt>
  void add_part(const Slab& slab, const Part& part, const PanelAt& panel_at) const {
    const std::size_t depth = tiles_.padded(slab.count), block = depth_block(tiles_, depth);
    for (std::size_t k = 0; k < depth; k += block) {
      const std::size_t here = std::min(block, depth - k);
      const bool add = slab.first + k > 0 || into_ == Into::kAdd;
      [[maybe_unused]] const float* prefetched = nullptr;
      for (std::size_t p = part.first_panel; p < part.last_panel; ++p) {
        const Panel panel = panel_at(k, here, p);
        for (std::size_t s = part.first_strip; s < part.last_strip; ++s) {
          const std::size_t row = strips_.first(s), rows = strips_.rows(s);
          assert(!prefetched || prefetched == sums(s, p));
          const Ahead ahead = after(part, p, s, panel.next, here);
          prefetched = ahead.c;
          const TileOperand strip =
              a_in_place_ ? TileOperand{a_.of_a(row, slab.first + k), a_.stride}
                          : TileOperand{slab.packed_a + tiles_.strip_bytes(row, depth) + tiles_.strip_bytes(rows, k)};
          tiles_.tile(rows, columns(p), here, strip, panel.operand, sums(s, p), c_.stride, add, ahead);
        }
      }
    }
  }

  float* sums(std::size_t strip, std::size_t panel) const {
    return c_.data + strips_.first(strip) * c_.stride + panel * tiles_.cols;
  }

  // What the tile of panel p and strip s prefetches: its share of the next panel, if that is packed, and the sums of
  // the next tile.
  Ahead after(const Part& part, std::size_t p, std::size_t s, const std::byte* next_panel, std::size_t depth) const {
    Ahead ahead;
    if (next_panel) {
      ahead = Ahead::part_of(next_panel, tiles_.panel_bytes(depth), s - part.first_strip,
                             part.last_strip - part.first_strip);
    }
    const bool same_panel = s + 1 < part.last_strip;
    if (!same_panel && p + 1 == part.last_panel) return ahead;
    const std::size_t next_s = same_panel ? s + 1 : part.first_strip, next_p = same_panel ? p : p + 1;
    ahead.c = sums(next_s, next_p);
    ahead.rows = strips_.rows(next_s);
    ahead.cols = columns(next_p);
    ahead.stride = c_.stride;
    return ahead;
  }

  const ProductTiles& tiles_;
  const Operand a_;
  const MatrixView<float> c_;
  const std::size_t K_;
  const Into into_;
  const bool a_in_place_;
  const Strips strips_;
  const std::size_t panels_;
};

std::size_t floats_packed(const ProductTiles& tiles, std::size_t K, std::size_t N) {
  return ceil_div(ceil_div(N, tiles.cols) * tiles.panel_bytes(tiles.padded(K)), sizeof(float));
}

void pack_panels(const ProductTiles& tiles, const Operand& b, std::size_t K, std::size_t N, std::byte* to) {
  const std::size_t panel_bytes = tiles.panel_bytes(tiles.padded(K)), panels = ceil_div(N, tiles.cols);
  const std::size_t side_by_side = b.layout == Layout::kAsIs ? panels_at_once(tiles) : 1;
  parallel_for(ceil_div(panels, side_by_side), [&](std::size_t piece) {
    const std::size_t first = piece * side_by_side, column = first * tiles.cols;
    pack_panels_of(tiles, b, 0, K, column, std::min(side_by_side * tiles.cols, N - column), to + first * panel_bytes,
                   panel_bytes);
  });
}

// Whether a and c share no element: they lie apart, or are different columns of one matrix.
[[maybe_unused]] bool apart(ConstMatrix a, Matrix c) {
  if (a.rows * a.cols == 0 || c.rows * c.cols == 0) return true;
  const float *const a_end = a.row(a.rows - 1) + a.cols, *const c_end = c.row(c.rows - 1) + c.cols;
  if (std::less_equal<>()(a_end, c.data) || std::less_equal<>()(c_end, a.data)) return true;
  if (a.stride != c.stride) return false;
  const auto stride = static_cast<std::ptrdiff_t>(a.stride);
  const auto column = static_cast<std::size_t>(((c.data - a.data) % stride + stride) % stride);
  return column >= a.cols && column + c.cols <= a.stride;
}

// c = op(a) op(b), or c += op(a) op(b), where K is the number of terms of an element.
void product(const Operand& a, const Operand& b, Matrix c, std::size_t K, Into into) {
  assert(!inside_parallel_for());  // all products pack into the same memory
  if (c.rows == 0 || c.cols == 0) return;
  if (K > 0) {
    Product(current_tiles(), a, c, K, into).times(b);
  } else if (into == Into::kOverwrite) {
    zero_rows(c);
  }
}

}  // namespace

void multiply(ConstMatrix a, ConstMatrix b, Matrix c, Into into) {
  assert(a.rows == c.rows && a.cols == b.rows && b.cols == c.cols && apart(a, c) && apart(b, c));
  product({a.data, a.stride, Layout::kAsIs}, {b.data, b.stride, Layout::kAsIs}, c, a.cols, into);
}

void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix c, Into into) {
  assert(a.rows == c.rows && a.cols == b.cols && b.rows == c.cols && apart(a, c) && apart(b, c));
  product({a.data, a.stride, Layout::kAsIs}, {b.data, b.stride, Layout::kTransposed}, c, a.cols, into);
}

void accumulate_outer(ConstMatrix a, ConstMatrix b, Matrix c) {
  assert(a.rows == b.rows && a.cols == c.rows && b.cols == c.cols && apart(a, c) && apart(b, c));
  product({a.data, a.stride, Layout::kTransposed}, {b.data, b.stride, Layout::kAsIs}, c, a.rows, Into::kAdd);
}

void PackedMatrix::pack(ConstMatrix b, bool transposed, Scratch::Frame* frame) {
  rows_ = transposed ? b.cols : b.rows;
  cols_ = transposed ? b.rows : b.cols;
  tiles_ = &current_tiles();
  const std::size_t size = floats_packed(*tiles_, rows_, cols_);
  elements_ = frame ? frame->matrix(1, size) : own_.shape(1, size);
  pack_panels(*tiles_, {b.data, b.stride, transposed ? Layout::kTransposed : Layout::kAsIs}, rows_, cols_,
              reinterpret_cast<std::byte*>(elements_.data));
}

void multiply(ConstMatrix a, const PackedMatrix& b, Matrix c, Into into) {
  assert(a.rows == c.rows && a.cols == b.rows() && b.cols() == c.cols && apart(a, c));
  assert(!inside_parallel_for());
  if (c.rows == 0 || c.cols == 0) return;
  if (a.cols == 0) return multiply(a, ConstMatrix(nullptr, 0, c.cols), c, into);
  Product(*b.tiles(), {a.data, a.stride, Layout::kAsIs}, c, a.cols, into).times_packed(b.panels());
}

}  // namespace rnnsearch::kernels

#include "rnnsearch/kernels/gemm.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <type_traits>

#include "kernels/caches.h"
#include "kernels/product_tiles.h"
#include "rnnsearch/kernels/parallel.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::kernels {
namespace {

enum class Layout { kAsIs, kTransposed };

std::size_t pieces_of(std::size_t whole, std::size_t piece) {
  return (whole + piece - 1) / piece;
}

// An operand by its stored form; `depth` counts along K.
struct Operand {
  const float* data;
  std::size_t stride;
  Layout layout;

  // Where row i of op(a), or column j of op(b), begins at depth k.
  const float* of_a(std::size_t i, std::size_t k) const {
    return layout == Layout::kAsIs ? data + i * stride + k : data + k * stride + i;
  }
  const float* of_b(std::size_t k, std::size_t j) const {
    return layout == Layout::kAsIs ? data + k * stride + j : data + j * stride + k;
  }
};

// M rows in strips that differ by one row at most: a last strip of few rows would keep the processor waiting.
struct Strips {
  std::size_t count, few, longer;  // the first `longer` strips have few + 1 rows, the others `few`
  Strips(std::size_t M, std::size_t max_rows) : count(pieces_of(M, max_rows)), few(M / count), longer(M % count) {}
  std::size_t first(std::size_t strip) const { return strip * few + std::min(strip, longer); }
  std::size_t rows(std::size_t strip) const { return few + (strip < longer ? 1 : 0); }
};

// So many k that a panel of them fills the first-level cache, from which it is read once for every strip.
std::size_t depth_block(const ProductTiles& tiles, std::size_t depth) {
  const std::size_t most = std::max<std::size_t>(128, caches().level1 / (tiles.cols * tiles.element));
  return tiles.padded(pieces_of(depth, pieces_of(depth, most)));
}

void pack_panel(const ProductTiles& tiles, const Operand& b, std::size_t k, std::size_t depth, std::size_t column,
                std::size_t count, std::byte* panel) {
  const auto pack = b.layout == Layout::kAsIs ? tiles.pack_panel : tiles.pack_panel_transposed;
  pack(count, depth, b.of_b(k, column), b.stride, panel);
}

// For `bytes` bytes of packed elements. Kept from product to product.
std::byte* space_for(std::size_t bytes, Buffer<float>& buffer) {
  return reinterpret_cast<std::byte*>(buffer.shape(1, pieces_of(bytes, sizeof(float))).data);
}

class Product {
 public:
  Product(const ProductTiles& tiles, const Operand& a, MatrixView<float> c, std::size_t K, Into into)
      : tiles_(tiles), a_(a), c_(c), K_(K), into_(into), strips_(c.rows, tiles.max_rows) {}

  // b's panels, packed before, one after the other.
  void times_packed(const std::byte* panels) {
    const std::size_t depth = tiles_.padded(K_), row_bytes = tiles_.cols * tiles_.element;
    for_slabs([&](std::size_t first, std::size_t count) {
      add_depths(first, count, [&](std::size_t k, std::size_t, std::size_t p) {
        const bool last = (p + 1) * tiles_.cols >= c_.cols;
        const std::byte* const here = panels + (p * depth + first + k) * row_bytes;
        return Panel{here, tiles_.cols, last ? nullptr : here + depth * row_bytes};
      });
    });
  }

  void times(const Operand& b) {
    // Few rows use an element of b too rarely to copy it first.
    const bool in_place = b.layout == Layout::kAsIs && tiles_.reads_unpacked && strips_.count <= 2;
    for_slabs([&](std::size_t first, std::size_t here) {
      add_depths(first, here, [&](std::size_t k, std::size_t depth, std::size_t p) {
        const std::size_t column = p * tiles_.cols, cols = columns(p);
        if (in_place && cols == tiles_.cols) {
          return Panel{reinterpret_cast<const std::byte*>(b.of_b(first + k, column)), b.stride};
        }
        thread_local Buffer<float> buffer;
        std::byte* const panel = space_for(tiles_.padded(depth) * tiles_.cols * tiles_.element, buffer);
        pack_panel(tiles_, b, first + k, std::min(depth, here - k), column, cols, panel);
        return Panel{panel, tiles_.cols};
      });
    });
  }

 private:
  static constexpr std::size_t kSlabBytes = 8 << 20;
  static constexpr std::size_t kBytesToPack = 1 << 14;  // in a piece: takes longer than handing it to a thread
  // Handing a piece out takes under a microsecond; at the end, threads wait for half a piece.
  static constexpr std::size_t kPiecesAThread = 16;

  struct Panel {
    const std::byte* elements;
    std::size_t stride;
    const std::byte* next = nullptr;  // the panel after it, if it lies in memory packed: to be asked for ahead
  };

  // op(a) is packed in slabs of K that leave room in the outer cache. slab(first, count)
  template <class Slab>
  void for_slabs(const Slab& slab) const {
    const std::size_t most = std::max<std::size_t>(1024, kSlabBytes / (c_.rows * tiles_.element));
    const std::size_t depth = tiles_.padded(pieces_of(K_, pieces_of(K_, most)));
    for (std::size_t first = 0; first < K_; first += depth) slab(first, std::min(depth, K_ - first));
  }

  std::size_t columns(std::size_t panel) const { return std::min(tiles_.cols, c_.cols - panel * tiles_.cols); }

  const std::byte* pack_a(std::size_t first, std::size_t count) const {
    thread_local Buffer<float> buffer;  // the calling thread's: products are not nested
    const std::size_t depth = tiles_.padded(count), bytes = c_.rows * depth * tiles_.element;
    std::byte* const to = space_for(bytes, buffer);
    const auto pack = a_.layout == Layout::kAsIs ? tiles_.pack_strip : tiles_.pack_strip_transposed;
    const std::size_t pieces = std::min(strips_.count, pieces_of(bytes, kBytesToPack));
    parallel_for(pieces, [&](std::size_t piece) {
      for (std::size_t s = strips_.count * piece / pieces; s < strips_.count * (piece + 1) / pieces; ++s) {
        const std::size_t row = strips_.first(s);
        pack(strips_.rows(s), count, a_.of_a(row, first), a_.stride, to + row * depth * tiles_.element);
      }
    });
    return to;
  }

  // The terms of depths [first, first + count). panel_at(k, depth, p): depths first + k and on of panel p.
  template <class PanelAt>
  void add_depths(std::size_t first, std::size_t count, const PanelAt& panel_at) const {
    const std::byte* const packed_a = pack_a(first, count);
    const std::size_t depth = tiles_.padded(count), block = depth_block(tiles_, depth);
    const std::size_t panels = pieces_of(c_.cols, tiles_.cols);
    // A piece's strips of one block stay in the second-level cache while all its panels go by.
    const std::size_t strips_a_piece = caches().level2 / (block * tiles_.max_rows * tiles_.element);
    const std::size_t row_pieces = pieces_of(strips_.count, std::max<std::size_t>(8, strips_a_piece));
    const std::size_t col_pieces = std::min(panels, pieces_of(kPiecesAThread * threads(), row_pieces));
    parallel_for(row_pieces * col_pieces, [&](std::size_t piece) {
      const std::size_t row_piece = piece / col_pieces, col_piece = piece % col_pieces;
      const std::size_t first_strip = strips_.count * row_piece / row_pieces;
      const std::size_t last_strip = strips_.count * (row_piece + 1) / row_pieces;
      for (std::size_t k = 0; k < depth; k += block) {
        const std::size_t here = std::min(block, depth - k);
        const bool add = first + k > 0 || into_ == Into::kAdd;
        for (std::size_t p = panels * col_piece / col_pieces; p < panels * (col_piece + 1) / col_pieces; ++p) {
          const Panel panel = panel_at(k, here, p);
          const std::size_t cols = columns(p), panel_bytes = here * tiles_.cols * tiles_.element;
          const std::size_t bytes_a_strip = panel_bytes / (last_strip - first_strip) + 1;
          for (std::size_t s = first_strip; s < last_strip; ++s) {
            const std::size_t row = strips_.first(s), rows = strips_.rows(s);
            float* const c = c_.data + row * c_.stride + p * tiles_.cols;
            if (panel.next) {
              const std::size_t from = (s - first_strip) * bytes_a_strip;
              for (std::size_t at = from; at < std::min(from + bytes_a_strip, panel_bytes); at += 64) {
                __builtin_prefetch(panel.next + at, 0, 2);
              }
            }
            if (s + 1 < last_strip) prefetch(c + rows * c_.stride, strips_.rows(s + 1), cols);
            tiles_.tile(rows, cols, here, packed_a + (row * depth + k * rows) * tiles_.element, panel.elements,
                        panel.stride, c, c_.stride, add);
          }
        }
      }
    });
  }

  // The tile after this one, while this one is computed.
  void prefetch(const float* c, std::size_t rows, std::size_t cols) const {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < cols; j += 16) __builtin_prefetch(c + i * c_.stride + j, 1);
    }
  }

  const ProductTiles& tiles_;
  const Operand a_;
  const MatrixView<float> c_;
  const std::size_t K_;
  const Into into_;
  const Strips strips_;
};

const ProductTiles* pack_panels(const Operand& b, std::size_t K, std::size_t N, Buffer<float>& elements) {
  const ProductTiles& tiles = current_tiles();
  const std::size_t panel_bytes = tiles.padded(K) * tiles.cols * tiles.element, panels = pieces_of(N, tiles.cols);
  std::byte* const to = space_for(panels * panel_bytes, elements);
  parallel_for(panels, [&](std::size_t p) {
    const std::size_t column = p * tiles.cols;
    pack_panel(tiles, b, 0, K, column, std::min(tiles.cols, N - column), to + p * panel_bytes);
  });
  return &tiles;
}

void product(ConstMatrixView<float> a, Layout a_layout, ConstMatrixView<float> b, Layout b_layout, MatrixView<float> c,
             std::size_t K, Into into) {
  Product(current_tiles(), {a.data, a.stride, a_layout}, c, K, into).times({b.data, b.stride, b_layout});
}

void product(ConstMatrixView<double> a, Layout a_layout, ConstMatrixView<double> b, Layout b_layout,
             MatrixView<double> c, std::size_t K, Into into) {
  parallel_for(c.rows, [&](std::size_t i) {
    for (std::size_t j = 0; j < c.cols; ++j) {
      double sum = into == Into::kAdd ? c(i, j) : 0.0;
      for (std::size_t k = 0; k < K; ++k) {
        sum += (a_layout == Layout::kAsIs ? a(i, k) : a(k, i)) * (b_layout == Layout::kAsIs ? b(k, j) : b(j, k));
      }
      c(i, j) = sum;
    }
  });
}

template <class Real>
void checked_product(ConstMatrixView<Real> a, Layout a_layout, ConstMatrixView<Real> b, Layout b_layout,
                     MatrixView<Real> c, std::size_t K, Into into) {
  if (c.rows == 0 || c.cols == 0) return;
  if (K > 0) {
    product(a, a_layout, b, b_layout, c, K, into);
  } else if (into == Into::kOverwrite) {
    zero_rows<Real>(c);
  }
}

}  // namespace

template <class Real>
void multiply(ConstMatrixView<Real> a, ConstMatrixView<Real> b, MatrixView<Real> c, Into into) {
  assert(a.rows == c.rows && a.cols == b.rows && b.cols == c.cols);
  checked_product<Real>(a, Layout::kAsIs, b, Layout::kAsIs, c, a.cols, into);
}

template <class Real>
void multiply_transposed(ConstMatrixView<Real> a, ConstMatrixView<Real> b, MatrixView<Real> c, Into into) {
  assert(a.rows == c.rows && a.cols == b.cols && b.rows == c.cols);
  checked_product<Real>(a, Layout::kAsIs, b, Layout::kTransposed, c, a.cols, into);
}

template <class Real>
void accumulate_outer(ConstMatrixView<Real> a, ConstMatrixView<Real> b, MatrixView<Real> c) {
  assert(a.rows == b.rows && a.cols == c.rows && b.cols == c.cols);
  checked_product<Real>(a, Layout::kTransposed, b, Layout::kAsIs, c, a.rows, Into::kAdd);
}

template <class Real>
void PackedMatrix<Real>::pack(ConstMatrixView<Real> b) {
  rows_ = b.rows;
  cols_ = b.cols;
  if constexpr (std::is_same_v<Real, float>) {
    tiles_ = pack_panels({b.data, b.stride, Layout::kAsIs}, rows_, cols_, elements_);
  } else {
    copy_rows<Real>(b, elements_.shape(rows_, cols_));
  }
}

template <class Real>
void PackedMatrix<Real>::pack_transposed(ConstMatrixView<Real> b) {
  rows_ = b.cols;
  cols_ = b.rows;
  if constexpr (std::is_same_v<Real, float>) {
    tiles_ = pack_panels({b.data, b.stride, Layout::kTransposed}, rows_, cols_, elements_);
  } else {
    const MatrixView<Real> copy = elements_.shape(rows_, cols_);
    for (std::size_t k = 0; k < rows_; ++k) {
      for (std::size_t j = 0; j < cols_; ++j) copy(k, j) = b(j, k);
    }
  }
}

template <class Real>
void multiply(ConstMatrixView<Real> a, const PackedMatrix<Real>& b, MatrixView<Real> c, Into into) {
  assert(a.rows == c.rows && a.cols == b.rows() && b.cols() == c.cols);
  if constexpr (std::is_same_v<Real, float>) {
    if (c.rows == 0 || c.cols == 0) return;
    if (a.cols == 0) return multiply<Real>(a, ConstMatrixView<Real>(nullptr, 0, c.cols), c, into);
    Product(*b.tiles_, {a.data, a.stride, Layout::kAsIs}, c, a.cols, into)
        .times_packed(reinterpret_cast<const std::byte*>(b.elements_.view().data));
  } else {
    multiply<Real>(a, b.elements_.view(), c, into);
  }
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                        \
  template void multiply(ConstMatrixView<Real>, ConstMatrixView<Real>, MatrixView<Real>, Into);            \
  template void multiply_transposed(ConstMatrixView<Real>, ConstMatrixView<Real>, MatrixView<Real>, Into); \
  template void accumulate_outer(ConstMatrixView<Real>, ConstMatrixView<Real>, MatrixView<Real>);          \
  template class PackedMatrix<Real>;                                                                       \
  template void multiply(ConstMatrixView<Real>, const PackedMatrix<Real>&, MatrixView<Real>, Into);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::kernels

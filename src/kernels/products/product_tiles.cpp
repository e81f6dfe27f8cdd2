#include "kernels/products/product_tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/products/product_tiles.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <utility>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "kernels/dispatch.h"
#include "rnnsearch/kernels/precision.h"

HWY_BEFORE_NAMESPACE();
namespace rnnsearch::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Floats4 = hn::CappedTag<float, 4>;

// A tile has R rows and kVectors vectors of columns. Of 32 registers, 6 x 4 hold sums, 4 hold a row of b and one an
// element of a: 10 loads for 24 multiplications, where 12 x 2 sums would need 14 loads. Fewer loads matter when two
// threads share a core. Of 16 registers, 6 x 2 hold sums. A few lines are prefetched every kPrefetchDepth k; more often
// would cost small tiles more than it saves.
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t kRows = 6, kVectors = 4, kPrefetchDepth = 32;
#else
constexpr std::size_t kRows = 6, kVectors = 2, kPrefetchDepth = 128;
#endif
constexpr std::size_t kLanes = hn::MaxLanes(Floats());
constexpr std::size_t kCols = kVectors * kLanes;

// A packed strip of R rows has the R elements of each k side by side, and the compiler knows where. One that is read in
// place has rows of its own.
template <std::size_t R>
struct PackedStrip {
  const float* HWY_RESTRICT elements;
  const float* at(std::size_t k) const { return elements + k * R; }
  static constexpr std::size_t row_step() { return 1; }
};
struct StripInPlace {
  const float* HWY_RESTRICT elements;
  std::size_t stride;
  const float* at(std::size_t k) const { return elements + k; }
  std::size_t row_step() const { return stride; }
};

struct PanelElements {
  const float* HWY_RESTRICT elements;
  std::size_t stride;  // from one k to the next
};

// The sums are parameters, one for each vector of the tile, because SVE's vectors have no size that an array could be
// made of. Sum I belongs to row I / V and to vector I % V of this row.
template <std::size_t V, class Strip, std::size_t... I, class... Sums>
HWY_INLINE void add_products(std::index_sequence<I...>, std::size_t depth, const Strip& strip,
                             const PanelElements& panel, float* HWY_RESTRICT c, std::size_t c_stride, Ahead ahead,
                             Sums... sums) {
  const Floats d;
  const Ahead::Share share = ahead.share((depth + kPrefetchDepth - 1) / kPrefetchDepth);
  for (std::size_t step = 0; step < depth; step += kPrefetchDepth) {
    ahead.prefetch(share);
    const std::size_t end = std::min(depth, step + kPrefetchDepth);
    for (std::size_t k = step; k < end; ++k) {
      const float *const a = strip.at(k), *const b = panel.elements + k * panel.stride;
      ((sums = hn::MulAdd(hn::Set(d, a[I / V * strip.row_step()]), hn::LoadU(d, b + I % V * kLanes), sums)), ...);
    }
  }
  (hn::StoreU(sums, d, c + I / V * c_stride + I % V * kLanes), ...);
}

template <std::size_t V, class Strip, std::size_t... I>
HWY_INLINE void load_and_add(std::index_sequence<I...> all, std::size_t depth, const Strip& strip,
                             const PanelElements& panel, float* HWY_RESTRICT c, std::size_t c_stride, bool add,
                             Ahead ahead) {
  const Floats d;
  add_products<V>(all, depth, strip, panel, c, c_stride, ahead,
                  (add ? hn::LoadU(d, c + I / V * c_stride + I % V * kLanes) : hn::Zero(d))...);
}

// R rows by V vectors.
template <std::size_t R, std::size_t V>
void full_tile(std::size_t depth, TileOperand strip, const PanelElements& panel, float* HWY_RESTRICT c,
               std::size_t c_stride, bool add, Ahead ahead) {
  const auto* const elements = static_cast<const float*>(strip.elements);
  const std::make_index_sequence<R * V> sums;
  if (strip.stride == 0) {
    load_and_add<V>(sums, depth, PackedStrip<R>{elements}, panel, c, c_stride, add, ahead);
  } else {
    load_and_add<V>(sums, depth, StripInPlace{elements, strip.stride}, panel, c, c_stride, add, ahead);
  }
}

using FullTile = decltype(&full_tile<1, 1>);

// Number I is that of I / kVectors + 1 rows and I % kVectors + 1 vectors.
template <std::size_t... I>
constexpr std::array<FullTile, sizeof...(I)> tiles_of(std::index_sequence<I...>) {
  return {full_tile<I / kVectors + 1, I % kVectors + 1>...};
}

void tile(std::size_t rows, std::size_t count, std::size_t depth, TileOperand strip, TileOperand panel, float* c,
          std::size_t c_stride, bool add, Ahead ahead) {
  static constexpr auto kTiles = tiles_of(std::make_index_sequence<kRows * kVectors>());
  const std::size_t vectors = ceil_div(count, kLanes);
  const FullTile full = kTiles[(rows - 1) * kVectors + vectors - 1];
  const PanelElements b{static_cast<const float*>(panel.elements), panel.stride == 0 ? kCols : panel.stride};
  whole_tile<kRows, kCols>(rows, count, vectors * kLanes, c, c_stride, add,
                           [&](float* to, std::size_t stride) { full(depth, strip, b, to, stride, add, ahead); });
}

// 1 is the product of every step; the compiler must not know it.
template <std::size_t... I, class... Sums>
HWY_INLINE void add_ones(std::index_sequence<I...>, std::size_t steps, float* HWY_RESTRICT to, Sums... sums) {
  const Floats d;
  const auto one = hn::Set(d, to[0] * 0 + 1);
  for (std::size_t step = 0; step < steps; ++step) ((sums = hn::MulAdd(one, one, sums)), ...);
  (hn::StoreU(sums, d, to + I * kLanes), ...);
}
template <std::size_t... I>
HWY_INLINE void load_and_add_ones(std::index_sequence<I...> all, std::size_t steps, float* HWY_RESTRICT sums) {
  const Floats d;
  add_ones(all, steps, sums, hn::LoadU(d, sums + I * kLanes)...);
}
void arithmetic(std::size_t steps, float* sums) {
  load_and_add_ones(std::make_index_sequence<kRows * kVectors>(), steps, sums);
}

#if HWY_TARGET != HWY_SCALAR
// A vector whose block b holds four elements of a row, from from[4 b] + k on.
template <class D>
hn::Vec<D> blocks(D d, const float* const* from, std::size_t k) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return hn::LoadU(d, from[0] + k);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, blocks(half, from + hn::MaxLanes(half), k), blocks(half, from, k));
  }
}
#endif

#if HWY_TARGET != HWY_SCALAR
// Like transpose, for as many k as whole vectors can be written; returns that number. A vector holds a few rows at one
// k; four k are computed at once.
template <class D>
std::size_t transpose_vectors(D d, std::size_t rows, std::size_t depth, const float* HWY_RESTRICT from,
                              std::size_t from_stride, float* HWY_RESTRICT to, std::size_t to_stride) {
  constexpr std::size_t kWidth = hn::MaxLanes(D());
  // If there are fewer rows than lanes, the last row is used for the missing ones. What is written past the end of a
  // row of `to` is overwritten by the next row; the last rows are excluded from `whole`, because other memory may
  // follow them.
  const std::size_t beyond = rows < kWidth ? kWidth - rows : 0;
  const std::size_t whole = depth - std::min(depth, beyond == 0 ? 0 : ceil_div(beyond, to_stride));
  const float* row[kWidth];
  for (std::size_t next = 0; next < rows; next += kWidth) {
    const std::size_t first = rows < kWidth ? 0 : std::min(next, rows - kWidth);  // the last group may overlap
    for (std::size_t i = 0; i < kWidth; ++i) row[i] = from + std::min(first + i, rows - 1) * from_stride;
    for (std::size_t k = 0; k + 4 <= whole; k += 4) {
      const auto r0 = blocks(d, row, k), r1 = blocks(d, row + 1, k);
      const auto r2 = blocks(d, row + 2, k), r3 = blocks(d, row + 3, k);
      const auto low02 = hn::InterleaveLower(d, r0, r2), high02 = hn::InterleaveUpper(d, r0, r2);
      const auto low13 = hn::InterleaveLower(d, r1, r3), high13 = hn::InterleaveUpper(d, r1, r3);
      float* const out = to + k * to_stride + first;
      hn::StoreU(hn::InterleaveLower(d, low02, low13), d, out);
      hn::StoreU(hn::InterleaveUpper(d, low02, low13), d, out + to_stride);
      hn::StoreU(hn::InterleaveLower(d, high02, high13), d, out + 2 * to_stride);
      hn::StoreU(hn::InterleaveUpper(d, high02, high13), d, out + 3 * to_stride);
    }
  }
  return whole / 4 * 4;
}
#endif

// See Transpose.
void transpose(std::size_t rows, std::size_t depth, const float* HWY_RESTRICT from, std::size_t from_stride,
               float* HWY_RESTRICT to, std::size_t to_stride) {
  std::size_t k = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 8> few;
  k = rows <= hn::MaxLanes(few) ? transpose_vectors(few, rows, depth, from, from_stride, to, to_stride)
                                : transpose_vectors(Floats(), rows, depth, from, from_stride, to, to_stride);
#endif
  for (; k < depth; ++k) {
    for (std::size_t i = 0; i < rows; ++i) to[k * to_stride + i] = from[i * from_stride + k];
  }
}

// to[k * to_stride + i] = from[k * from_stride + i]
void copy(std::size_t rows, std::size_t depth, const float* HWY_RESTRICT from, std::size_t from_stride,
          float* HWY_RESTRICT to, std::size_t to_stride) {
  const Floats4 d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t k = 0; k < depth; ++k, from += from_stride, to += to_stride) {
    if (rows < lanes) {
      for (std::size_t i = 0; i < rows; ++i) to[i] = from[i];
    } else {
      for (std::size_t next = 0; next < rows; next += lanes) {
        const std::size_t i = std::min(next, rows - lanes);
        hn::StoreU(hn::LoadU(d, from + i), d, to + i);
      }
    }
  }
}

// Copies a whole panel.
void copy_panel(std::size_t depth, const float* HWY_RESTRICT from, std::size_t from_stride, float* HWY_RESTRICT to) {
  const Floats d;
  for (std::size_t k = 0; k < depth; ++k, from += from_stride, to += kCols) {
    for (std::size_t v = 0; v < kVectors; ++v) hn::Store(hn::LoadU(d, from + v * kLanes), d, to + v * kLanes);
  }
}

void fill_up(std::size_t count, std::size_t depth, float* panel) {
  for (std::size_t k = 0; count < kCols && k < depth; ++k) {
    std::fill(panel + k * kCols + count, panel + (k + 1) * kCols, 0.0F);
  }
}

void pack_strip(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, void* strip) {
  transpose(rows, depth, a, stride, static_cast<float*>(strip), rows);
}
void pack_strip_transposed(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, void* strip) {
  copy(rows, depth, a, stride, static_cast<float*>(strip), rows);
}
void pack_panel(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel) {
  auto* const to = static_cast<float*>(panel);
  if (count == kCols) {
    copy_panel(depth, b, stride, to);
  } else {
    copy(count, depth, b, stride, to, kCols);
    fill_up(count, depth, to);
  }
}
void pack_panel_transposed(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel) {
  transpose(count, depth, b, stride, static_cast<float*>(panel), kCols);
  fill_up(count, depth, static_cast<float*>(panel));
}

// The emulation gives the bits of AVX-512's dot product of pairs (VDPBF16PS): sum + a_1 b_1 + a_0 b_0, in this order,
// each a fused multiply-add, where numbers below the smallest normal one count as 0. So the two rows of a pair, of
// `width` elements, are swapped; a last row without a partner gets one of zeros.
void round_pairs(std::size_t width, std::size_t depth, float* values) {
  if (depth % 2 == 1) std::fill_n(values + depth * width, width, 0.0F);
  const auto rounded = [](float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7f800000) == 0) return std::bit_cast<float>(bits & 0x80000000);
    return std::bit_cast<float>(static_cast<std::uint32_t>(nearest_bfloat16(value).bits) << 16);
  };
  for (std::size_t k = 0; k < depth; k += 2) {
    float *const first = values + k * width, *const second = first + width;
    for (std::size_t i = 0; i < width; ++i) {
      const float value = first[i];
      first[i] = rounded(second[i]);
      second[i] = rounded(value);
    }
  }
}

template <auto kPack>
void pack_strip_rounded(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, void* strip) {
  kPack(rows, depth, a, stride, strip);
  round_pairs(rows, depth, static_cast<float*>(strip));
}
template <auto kPack>
void pack_panel_rounded(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel) {
  kPack(count, depth, b, stride, panel);
  round_pairs(kCols, depth, static_cast<float*>(panel));
}

// While the object lives, floats below the smallest normal number count as 0 on this thread, as operands and as
// results.
class ZeroForDenormals {
 public:
  ZeroForDenormals() : before_(control()) { set(before_ | kMode); }
  ~ZeroForDenormals() { set(before_); }
  ZeroForDenormals(const ZeroForDenormals&) = delete;
  ZeroForDenormals& operator=(const ZeroForDenormals&) = delete;

 private:
#if defined(__x86_64__)
  using Word = unsigned;
  static constexpr Word kMode = 0x8040;  // FTZ and DAZ
  static Word control() { return _mm_getcsr(); }
  static void set(Word word) { _mm_setcsr(word); }
#elif defined(__aarch64__)
  using Word = std::uint64_t;
  static constexpr Word kMode = Word{1} << 24;  // FZ
  static Word control() {
    Word word = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set(Word word) { __asm__ volatile("msr fpcr, %0" : : "r"(word) : "memory"); }
#else
  using Word = unsigned;
  static constexpr Word kMode = 0;
  static Word control() { return 0; }
  static void set(Word) {}
#endif

  const Word before_;
};

void tile_of_pairs(std::size_t rows, std::size_t count, std::size_t depth, TileOperand strip, TileOperand panel,
                   float* c, std::size_t c_stride, bool add, Ahead ahead) {
  const ZeroForDenormals guard;
  tile(rows, count, depth, strip, panel, c, c_stride, add, ahead);
}

constexpr ProductTiles kTable = {{kRows, 1, kCols, 1, sizeof(float), sizeof(float)},
                                 {pack_strip, pack_strip_transposed, pack_panel, pack_panel_transposed},
                                 tile,
                                 true,
                                 arithmetic};
constexpr ProductTiles kRounded = {{kRows, 1, kCols, 2, 2 * sizeof(float), 2 * sizeof(float)},
                                   {pack_strip_rounded<pack_strip>, pack_strip_rounded<pack_strip_transposed>,
                                    pack_panel_rounded<pack_panel>, pack_panel_rounded<pack_panel_transposed>},
                                   tile_of_pairs,
                                   false,
                                   [](std::size_t steps, float* sums) { arithmetic(2 * steps, sums); }};
const ProductTiles* tiles() { return &kTable; }
Transpose transposition() { return transpose; }
const ProductTiles* rounded_tiles() { return &kRounded; }

}  // namespace rnnsearch::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rnnsearch::kernels {

HWY_EXPORT(tiles);
HWY_EXPORT(rounded_tiles);
HWY_EXPORT(transposition);

const ProductTiles& float_tiles() {
  static const ProductTiles* const table = RNNSEARCH_CHOSEN(tiles)();
  return *table;
}

Transpose transposition() {
  static const Transpose function = RNNSEARCH_CHOSEN(transposition)();
  return function;
}

const ProductTiles& emulated_bfloat16_tiles() {
  static const ProductTiles* const table = RNNSEARCH_CHOSEN(rounded_tiles)();
  return *table;
}

}  // namespace rnnsearch::kernels
#endif

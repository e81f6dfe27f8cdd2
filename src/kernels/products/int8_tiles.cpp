// Single functions of this file are compiled for processors with AVX512-VNNI. They are called only if int8_unit()
// reports one.
#include "kernels/products/product_tiles.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/kernels/precision.h"

namespace rnnsearch::kernels {
namespace {

// A strip holds for each group its rows [rows][kGroup] of q + 128, because the unit multiplies unsigned by signed
// bytes, and then their scales [rows]. A panel holds for each group [kGroup / 4][kCols][4] of q, then for each column
// what the 128 adds to its sum, negated, and its scale.
constexpr std::size_t kGroup = 128, kRows = 6, kLanes = 16, kVectors = 4, kCols = kVectors * kLanes;
constexpr std::size_t kTogether = 4;  // number of k that one instruction adds up
constexpr std::int32_t kOffset = 128;
constexpr float kLargest = 127;
constexpr std::size_t kStripStep = kGroup + sizeof(float);
constexpr std::size_t kPanelStep = kGroup + sizeof(std::int32_t) + sizeof(float);
constexpr std::uint32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;
constexpr float kSmallest = 0x1p-100F;  // a group whose magnitudes are all smaller is zero; 127 / kSmallest is finite

struct Scale {
  float scale, inverse;

  // bits: the largest magnitude of a group, as the bits of a float, by which NaN is larger than infinity
  explicit Scale(std::uint32_t bits) {
    const float largest = std::bit_cast<float>(bits);
    const bool is_zero = largest < kSmallest, is_finite = bits < kInfinity;
    scale = !is_finite ? std::numeric_limits<float>::quiet_NaN() : is_zero ? 0 : largest / kLargest;
    inverse = is_zero || !is_finite ? 0 : kLargest / largest;
  }
};

struct PanelGroup {
  std::int8_t* q;         // [kGroup / 4][kCols][4]
  std::int32_t* offsets;  // [kCols]
  float* scales;          // [kCols]

  explicit PanelGroup(void* panel)
      : q(static_cast<std::int8_t*>(panel)),
        offsets(reinterpret_cast<std::int32_t*>(q + kGroup * kCols)),
        scales(reinterpret_cast<float*>(offsets + kCols)) {}
};

// Quantises up to kGroup neighbouring elements, and writes zeros for the others.
using QuantiseRow = float (*)(std::size_t count, const float* from, std::int8_t* q);

template <QuantiseRow kQuantise>
void pack_strip_of(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, void* strip) {
  auto* to = static_cast<std::uint8_t*>(strip);
  for (std::size_t k = 0; k < depth; k += kGroup, to += rows * kStripStep) {
    auto* const scales = reinterpret_cast<float*>(to + rows * kGroup);
    for (std::size_t i = 0; i < rows; ++i) {
      std::array<std::int8_t, kGroup> q;
      scales[i] = kQuantise(std::min(kGroup, depth - k), a + i * stride + k, q.data());
      for (std::size_t j = 0; j < kGroup; ++j) to[i * kGroup + j] = static_cast<std::uint8_t>(q[j] + kOffset);
    }
  }
}

template <QuantiseRow kQuantise>
void pack_strip_transposed_of(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, void* strip) {
  std::array<float, kRows * kGroup> group;
  auto* to = static_cast<std::uint8_t*>(strip);
  for (std::size_t k = 0; k < depth; k += kGroup, to += rows * kStripStep) {
    const std::size_t here = std::min(kGroup, depth - k);
    for (std::size_t j = 0; j < here; ++j) {
      for (std::size_t i = 0; i < rows; ++i) group[i * kGroup + j] = a[(k + j) * stride + i];
    }
    pack_strip_of<kQuantise>(rows, here, group.data(), kGroup, to);
  }
}

// Quantises columns of a group; column j of the panel has its elements from[j * stride], and so on.
template <QuantiseRow kQuantise>
void pack_panel_transposed_of(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel) {
  auto* to = static_cast<std::byte*>(panel);
  for (std::size_t k = 0; k < depth; k += kGroup, to += kCols * kPanelStep) {
    const PanelGroup group(to);
    for (std::size_t j = 0; j < kCols; ++j) {
      std::array<std::int8_t, kGroup> q{};
      group.scales[j] = j < count ? kQuantise(std::min(kGroup, depth - k), b + j * stride + k, q.data()) : 0;
      std::int32_t sum = 0;
      for (const std::int8_t one : q) sum += one;
      group.offsets[j] = -kOffset * sum;
      for (std::size_t i = 0; i < kGroup; i += kTogether)
        std::copy_n(q.data() + i, kTogether, group.q + i * kCols + j * kTogether);
    }
  }
}

template <QuantiseRow kQuantise>
constexpr ProductTiles table_of(Pack pack_panel, decltype(ProductTiles::tile) tile,
                                decltype(ProductTiles::arithmetic) arithmetic) {
  return {
      {kRows, 1, kCols, kGroup, kStripStep, kPanelStep},
      {pack_strip_of<kQuantise>, pack_strip_transposed_of<kQuantise>, pack_panel, pack_panel_transposed_of<kQuantise>},
      tile,
      false,
      arithmetic};
}

namespace portable {

float quantise_row(std::size_t count, const float* from, std::int8_t* q) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i)
    largest = std::max(largest, std::bit_cast<std::uint32_t>(from[i]) & kMagnitude);
  const Scale scale(largest);
  std::fill_n(q, kGroup, std::int8_t{0});
  if (scale.inverse == 0) return scale.scale;
  for (std::size_t i = 0; i < count; ++i) q[i] = static_cast<std::int8_t>(std::nearbyint(from[i] * scale.inverse));
  return scale.scale;
}

void pack_panel(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel) {
  std::array<float, kCols * kGroup> columns;
  auto* to = static_cast<std::byte*>(panel);
  for (std::size_t k = 0; k < depth; k += kGroup, to += kCols * kPanelStep) {
    const std::size_t here = std::min(kGroup, depth - k);
    for (std::size_t i = 0; i < here; ++i) {
      for (std::size_t j = 0; j < count; ++j) columns[j * kGroup + i] = b[(k + i) * stride + j];
    }
    pack_panel_transposed_of<quantise_row>(count, here, columns.data(), kGroup, to);
  }
}

void tile(std::size_t rows, std::size_t count, std::size_t depth, TileOperand strip, TileOperand panel, float* c,
          std::size_t c_stride, bool add, Ahead) {
  const auto* a = static_cast<const std::uint8_t*>(strip.elements);
  const auto* b = static_cast<const std::int8_t*>(panel.elements);
  for (std::size_t k = 0; k < depth; k += kGroup, a += rows * kStripStep, b += kCols * kPanelStep) {
    const auto* const offsets = reinterpret_cast<const std::int32_t*>(b + kGroup * kCols);
    const auto* const column_scales = reinterpret_cast<const float*>(offsets + kCols);
    const auto* const row_scales = reinterpret_cast<const float*>(a + rows * kGroup);
    for (std::size_t i = 0; i < rows; ++i) {
      std::array<std::int32_t, kCols> sums;
      std::copy_n(offsets, kCols, sums.begin());
      for (std::size_t j = 0; j < kGroup; ++j) {
        const std::int8_t* const q = b + j / kTogether * kTogether * kCols + j % kTogether;
        for (std::size_t n = 0; n < kCols; ++n) sums[n] += a[i * kGroup + j] * q[n * kTogether];
      }
      float* const to = c + i * c_stride;
      for (std::size_t n = 0; n < count; ++n) {
        const float before = add || k > 0 ? to[n] : 0.0F;
        to[n] = std::fma(static_cast<float>(sums[n]), row_scales[i] * column_scales[n], before);
      }
    }
  }
}

// Whole tiles of ones with scales of one, with their loads, which take little of the time here.
void arithmetic(std::size_t steps, float* sums) {
  alignas(float) std::array<std::uint8_t, kRows * kStripStep> strip;
  alignas(float) std::array<std::byte, kCols * kPanelStep> panel;
  strip.fill(1 + kOffset);
  std::fill_n(reinterpret_cast<float*>(strip.data() + kRows * kGroup), kRows, 1.0F);
  const PanelGroup group(panel.data());
  std::fill_n(group.q, kGroup * kCols, std::int8_t{1});
  std::fill_n(group.offsets, kCols, -kOffset * static_cast<std::int32_t>(kGroup));
  std::fill_n(group.scales, kCols, 1.0F);
  for (std::size_t step = 0; step < steps; ++step) {
    tile(kRows, kCols, kGroup, {strip.data()}, {panel.data()}, sums, kCols, true, {});
  }
}

constexpr ProductTiles kTable = table_of<quantise_row>(pack_panel, tile, arithmetic);

}  // namespace portable
}  // namespace

const ProductTiles& portable_int8_tiles() { return portable::kTable; }

}  // namespace rnnsearch::kernels

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define RNNSEARCH_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace rnnsearch::kernels {
namespace {
namespace vector_unit {

// The forms with a mask, because GCC 12 warns of an uninitialised variable in the others.
constexpr __mmask16 kAllLanes = 0xffff;

inline __mmask16 first_lanes(std::size_t count) {
  return static_cast<__mmask16>(count >= kLanes ? 0xffff : (1u << count) - 1);
}

RNNSEARCH_VNNI float quantise_row(std::size_t count, const float* from, std::int8_t* q) {
  const __m512i magnitude = _mm512_set1_epi32(static_cast<int>(kMagnitude));
  __m512i most = _mm512_setzero_si512();
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __m512i values = _mm512_castps_si512(_mm512_maskz_loadu_ps(first_lanes(count - i), from + i));
    most = _mm512_maskz_max_epu32(kAllLanes, most, _mm512_and_si512(values, magnitude));
  }
  alignas(64) std::array<std::uint32_t, kLanes> bits;
  _mm512_store_si512(bits.data(), most);
  const Scale scale(*std::max_element(bits.begin(), bits.end()));
  if (scale.inverse == 0) {
    std::fill_n(q, kGroup, std::int8_t{0});
    return scale.scale;
  }
  const __m512 inverse = _mm512_set1_ps(scale.inverse);
  for (std::size_t i = 0; i < kGroup; i += kLanes) {
    const __mmask16 lanes = i < count ? first_lanes(count - i) : 0;
    const __m512i rounded =
        _mm512_maskz_cvtps_epi32(kAllLanes, _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, from + i), inverse));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(q + i), _mm512_maskz_cvtepi32_epi8(kAllLanes, rounded));
  }
  return scale.scale;
}

// Quantises sixteen columns of a group.
RNNSEARCH_VNNI void quantise_columns(__mmask16 lanes, std::size_t depth, const float* b, std::size_t stride,
                                     std::int8_t* q, std::int32_t* offsets, float* scales) {
  const __m512i magnitude = _mm512_set1_epi32(static_cast<int>(kMagnitude));
  __m512i most = _mm512_setzero_si512();
  for (std::size_t k = 0; k < depth; ++k) {
    const __m512i bits = _mm512_castps_si512(_mm512_maskz_loadu_ps(lanes, b + k * stride));
    most = _mm512_maskz_max_epu32(kAllLanes, most, _mm512_and_si512(bits, magnitude));
  }
  alignas(64) std::array<std::uint32_t, kLanes> bits;
  alignas(64) std::array<float, kLanes> inverses;
  _mm512_store_si512(bits.data(), most);
  for (std::size_t j = 0; j < kLanes; ++j) {
    const Scale scale(bits[j]);
    scales[j] = scale.scale;
    inverses[j] = scale.inverse;
  }
  const __m512 inverse = _mm512_load_ps(inverses.data());
  // a column that is not finite has the inverse 0, and NaN times 0 must not be converted
  const __mmask16 used = lanes & _mm512_cmp_ps_mask(inverse, _mm512_setzero_ps(), _CMP_NEQ_OQ);
  const __m512i byte = _mm512_set1_epi32(0xff);
  __m512i sum = _mm512_setzero_si512();
  for (std::size_t k = 0; k < kGroup; k += kTogether) {
    __m512i together = _mm512_setzero_si512();
    for (std::size_t i = 0; i < kTogether && k + i < depth; ++i) {
      const __m512 values = _mm512_maskz_loadu_ps(used, b + (k + i) * stride);
      const __m512i rounded = _mm512_maskz_cvtps_epi32(kAllLanes, _mm512_mul_ps(values, inverse));
      sum = _mm512_add_epi32(sum, rounded);
      const __m512i place = _mm512_set1_epi32(static_cast<int>(8 * i));
      together = _mm512_or_si512(together, _mm512_maskz_sllv_epi32(kAllLanes, _mm512_and_si512(rounded, byte), place));
    }
    _mm512_storeu_si512(q + k * kCols, together);
  }
  _mm512_storeu_si512(offsets, _mm512_mullo_epi32(sum, _mm512_set1_epi32(-kOffset)));
}

void pack_panel(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel) {
  auto* to = static_cast<std::byte*>(panel);
  for (std::size_t k = 0; k < depth; k += kGroup, to += kCols * kPanelStep) {
    const PanelGroup group(to);
    for (std::size_t j = 0; j < kCols; j += kLanes) {
      const __mmask16 lanes = j < count ? first_lanes(count - j) : 0;
      quantise_columns(lanes, std::min(kGroup, depth - k), b + k * stride + (j < count ? j : 0), stride,
                       group.q + j * kTogether, group.offsets + j, group.scales + j);
    }
  }
}

constexpr std::size_t kVector = 64, kStepsPerShare = 8;  // bytes; steps between prefetches

// The type that the instructions have: where a sum is converted from and to __m512i, GCC copies it from register to
// register, and to memory.
using Integers = __v16si;

RNNSEARCH_VNNI inline Integers load(const std::int8_t* from) {
  return reinterpret_cast<Integers>(_mm512_loadu_si512(from));
}

// sum + four elements of a row times four of sixteen columns
RNNSEARCH_VNNI inline Integers add_four(Integers sum, const std::uint8_t* row, const std::int8_t* columns) {
  std::int32_t four;
  __builtin_memcpy(&four, row, kTogether);
  return reinterpret_cast<Integers>(
      _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), _mm512_set1_epi32(four), _mm512_loadu_si512(columns)));
}

// A sum times its scales, added to c.
RNNSEARCH_VNNI inline void add_scaled(Integers sum, float row_scale, const float* column_scales, __mmask16 more,
                                      float* c) {
  const __m512 scale = _mm512_mul_ps(_mm512_set1_ps(row_scale), _mm512_loadu_ps(column_scales));
  const __m512 before = _mm512_maskz_loadu_ps(more, c);
  _mm512_storeu_ps(c,
                   _mm512_fmadd_ps(_mm512_maskz_cvtepi32_ps(kAllLanes, reinterpret_cast<__m512i>(sum)), scale, before));
}

// A group of a tile with kVectors sums for each row. They are arguments, because the compiler would keep an array of so
// many in memory.
template <std::size_t... I, class... Sums>
RNNSEARCH_VNNI inline void add_group(std::index_sequence<I...>, const std::uint8_t* strip, const std::int8_t* panel,
                                     float* c, std::size_t c_stride, __mmask16 more, Ahead& ahead,
                                     const Ahead::Share& share, Sums... sums) {
  constexpr std::size_t kRowsHere = sizeof...(I) / kVectors, kSteps = kGroup / kTogether;
  for (std::size_t step = 0; step < kSteps; ++step) {
    if (step % kStepsPerShare == 0) ahead.prefetch(share);
    const std::int8_t* const b = panel + step * kVectors * kVector;
    const std::uint8_t* const a = strip + step * kTogether;
    ((sums = add_four(sums, a + I / kVectors * kGroup, b + I % kVectors * kVector)), ...);
  }
  const auto* const row_scales = reinterpret_cast<const float*>(strip + kRowsHere * kGroup);
  const auto* const column_scales = reinterpret_cast<const float*>(panel + kGroup * kCols) + kCols;
  (add_scaled(sums, row_scales[I / kVectors], column_scales + I % kVectors * kLanes, more,
              c + I / kVectors * c_stride + I % kVectors * kLanes),
   ...);
}

template <std::size_t... I>
RNNSEARCH_VNNI inline void load_and_add_group(std::index_sequence<I...> all, const std::uint8_t* strip,
                                              const std::int8_t* panel, float* c, std::size_t c_stride, __mmask16 more,
                                              Ahead& ahead, const Ahead::Share& share) {
  add_group(all, strip, panel, c, c_stride, more, ahead, share,
            load(panel + kGroup * kCols + I % kVectors * kVector)...);
}

template <std::size_t R>
RNNSEARCH_VNNI void full_tile(std::size_t depth, const std::uint8_t* strip, const std::int8_t* panel, float* c,
                              std::size_t c_stride, bool add, Ahead ahead) {
  const Ahead::Share share = ahead.share(depth / kTogether / kStepsPerShare);
  for (std::size_t k = 0; k < depth; k += kGroup, strip += R * kStripStep, panel += kCols * kPanelStep) {
    load_and_add_group(std::make_index_sequence<R * kVectors>(), strip, panel, c, c_stride,
                       add || k > 0 ? kAllLanes : 0, ahead, share);
  }
}

void tile(std::size_t rows, std::size_t count, std::size_t depth, TileOperand strip, TileOperand panel, float* c,
          std::size_t c_stride, bool add, Ahead ahead) {
  static constexpr auto kTiles = []<std::size_t... R>(std::index_sequence<R...>) {
    return std::array{&full_tile<R + 1>...};
  }
  (std::make_index_sequence<kRows>());
  whole_tile<kRows, kCols>(rows, count, kCols, c, c_stride, add, [&](float* to, std::size_t stride) {
    kTiles[rows - 1](depth, static_cast<const std::uint8_t*>(strip.elements),
                     static_cast<const std::int8_t*>(panel.elements), to, stride, add, ahead);
  });
}

RNNSEARCH_VNNI void arithmetic(std::size_t steps, float* sums) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i sum[kRows * kVectors];
#pragma GCC unroll 24
  for (std::size_t i = 0; i < kRows * kVectors; ++i) sum[i] = _mm512_setzero_si512();
  for (std::size_t step = 0; step < steps * (kGroup / kTogether); ++step) {
#pragma GCC unroll 24
    for (std::size_t i = 0; i < kRows * kVectors; ++i) sum[i] = _mm512_dpbusd_epi32(sum[i], ones, ones);
  }
#pragma GCC unroll 24
  for (std::size_t i = 0; i < kRows * kVectors; ++i, sums += kLanes) {
    _mm512_storeu_ps(sums, _mm512_add_ps(_mm512_loadu_ps(sums), _mm512_maskz_cvtepi32_ps(kAllLanes, sum[i])));
  }
}

constexpr ProductTiles kTable = table_of<quantise_row>(pack_panel, tile, arithmetic);

}  // namespace vector_unit

// Whether the processor has AVX512-VNNI. That the operating system preserves the registers is known from
// instruction_set().
bool has_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & (1u << 11)) != 0 && (b & bit_AVX512BW) != 0 &&
         (b & bit_AVX512VL) != 0;
}

}  // namespace

std::string_view int8_unit() {
  static const std::string_view unit = instruction_set() == "avx512" && has_vnni() ? "avx512-vnni" : "";
  return unit;
}

const ProductTiles& int8_tiles() { return int8_unit().empty() ? portable::kTable : vector_unit::kTable; }

}  // namespace rnnsearch::kernels
#else
namespace rnnsearch::kernels {

std::string_view int8_unit() { return ""; }
const ProductTiles& int8_tiles() { return portable::kTable; }

}  // namespace rnnsearch::kernels
#endif

// Single functions of this file are compiled for processors with a bfloat16 unit. They are called only if
// bfloat16_unit() reports one.
#include "kernels/products/product_tiles.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/products/amx_tile.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/kernels/precision.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RNNSEARCH_BFLOAT16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

namespace rnnsearch::kernels {
namespace {

constexpr std::size_t kLanes = 16, kCols = 2 * kLanes;

inline __mmask16 first_lanes(std::size_t count) {
  return static_cast<__mmask16>(count >= kLanes ? 0xffff : (1u << count) - 1);
}

// Rounds two vectors and stores them in pairs of neighbouring elements; the low half of a pair is the first element.
RNNSEARCH_BFLOAT16 inline __m512i pairs_along(__m512 low, __m512 high) {
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

// Rounds rows from[i * stride + k] to pairs of two neighbouring k, in whole vectors of 32 k, with zeros past the depth.
// to_stride: distance between rows of `to` in pairs.
RNNSEARCH_BFLOAT16 void round_rows(std::size_t rows, std::size_t depth, const float* from, std::size_t stride,
                                   std::uint32_t* to, std::size_t to_stride) {
  for (std::size_t i = 0; i < rows; ++i, from += stride, to += to_stride) {
    std::size_t k = 0;
    for (; k + 2 * kLanes <= depth; k += 2 * kLanes) {
      const __m512 low = _mm512_loadu_ps(from + k), high = _mm512_loadu_ps(from + k + kLanes);
      _mm512_storeu_si512(to + k / 2, pairs_along(low, high));
    }
    if (k == depth) continue;
    const __m512 low = _mm512_maskz_loadu_ps(first_lanes(depth - k), from + k);
    const __m512 high = depth - k > kLanes ? _mm512_maskz_loadu_ps(first_lanes(depth - k - kLanes), from + k + kLanes)
                                           : _mm512_setzero_ps();
    _mm512_storeu_si512(to + k / 2, pairs_along(low, high));
  }
}

// Rounds columns from[k * stride + i] to pairs of two neighbouring k, [pairs][count]. to_stride is a multiple of the
// vector size, or `count` if that is at most one vector. In all rows but the last, the last vector is filled with zeros
// past `count`; nothing else is written.
RNNSEARCH_BFLOAT16 void round_columns(std::size_t count, std::size_t depth, const float* from, std::size_t stride,
                                      std::uint32_t* to, std::size_t to_stride) {
  alignas(64) static constexpr std::uint16_t kAlternate[2 * kLanes] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                                       21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                                       11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  const __m512i alternate = _mm512_load_si512(kAlternate);
  const std::uint32_t* const end = to + (depth - 1) / 2 * to_stride + count;
  constexpr std::size_t kAtOnce = 16;  // number of k processed together; their lines stay in the L1 cache
  for (std::size_t block = 0; block < depth; block += kAtOnce) {
    const std::size_t last = std::min(depth, block + kAtOnce);
    for (std::size_t i = 0; i < count; i += kLanes) {
      const __mmask16 lanes = first_lanes(count - i);
      const float* at = from + block * stride + i;
      std::uint32_t* out = to + block / 2 * to_stride + i;
      for (std::size_t k = block; k < last; k += 2, at += 2 * stride, out += to_stride) {
        const __m512 first = _mm512_maskz_loadu_ps(lanes, at);
        const __m512 second = k + 1 < depth ? _mm512_maskz_loadu_ps(lanes, at + stride) : _mm512_setzero_ps();
        const __m512i both = _mm512_maskz_permutexvar_epi16(~0u, alternate, pairs_along(first, second));
        // Writing whole vectors is faster; the next row overwrites the excess.
        if (out + kLanes <= end) {
          _mm512_storeu_si512(out, both);
        } else {
          _mm512_mask_storeu_epi32(out, lanes, both);
        }
      }
    }
  }
}

// Rounds rows from[i * stride + k], some k at a time, into a buffer, because rows of `from` that are a power of two
// apart would evict each other from the L1 cache. Calls use(pair, pairs, rounded), where pair + j of row i is rounded[i
// * kRoundedStride + j], with zeros past the depth and in rows [rows, kCols).
constexpr std::size_t kRoundedPairs = 64, kRoundedStride = kRoundedPairs + kLanes;
template <class Use>
void for_rounded_rows(std::size_t rows, std::size_t depth, std::size_t padded, const float* from, std::size_t stride,
                      const Use& use) {
  alignas(64) std::uint32_t rounded[kCols * kRoundedStride];
  std::fill(rounded + rows * kRoundedStride, rounded + kCols * kRoundedStride, 0u);
  for (std::size_t pair = 0; pair < padded / 2; pair += kRoundedPairs) {
    const std::size_t here = std::min(kRoundedPairs, padded / 2 - pair);
    round_rows(rows, std::min(2 * here, depth - 2 * pair), from + 2 * pair, stride, rounded, kRoundedStride);
    use(pair, here, rounded);
  }
}

void transpose(std::size_t rows, std::size_t depth, const std::uint32_t* from, std::size_t from_stride,
               std::uint32_t* to, std::size_t to_stride) {
  transposition()(rows, depth, reinterpret_cast<const float*>(from), from_stride, reinterpret_cast<float*>(to),
                  to_stride);
}

// Rounds rows and writes them as columns of pairs, [padded depth / 2][width].
void round_and_transpose(std::size_t rows, std::size_t depth, std::size_t padded, const float* from, std::size_t stride,
                         std::uint32_t* to, std::size_t width) {
  for_rounded_rows(rows, depth, padded, from, stride,
                   [&](std::size_t pair, std::size_t pairs, const std::uint32_t* rounded) {
                     transpose(rows, pairs, rounded, kRoundedStride, to + pair * width, width);
                   });
}

template <std::size_t kDepthStep>
std::size_t padded(std::size_t depth) {
  return (depth + kDepthStep - 1) / kDepthStep * kDepthStep;
}

namespace vector_unit {

constexpr std::size_t kRows = 12, kDepthStep = 2, kStepBytes = kDepthStep * sizeof(std::uint16_t);

template <std::size_t R>
RNNSEARCH_BFLOAT16 void full_tile(std::size_t depth, const std::uint32_t* strip, const std::uint32_t* panel, float* c,
                                  std::size_t c_stride, bool add, Ahead ahead) {
  __m512 left[R], right[R];
#pragma GCC unroll 16
  for (std::size_t i = 0; i < R; ++i) {
    left[i] = add ? _mm512_loadu_ps(c + i * c_stride) : _mm512_setzero_ps();
    right[i] = add ? _mm512_loadu_ps(c + i * c_stride + kLanes) : _mm512_setzero_ps();
  }
  constexpr std::size_t kPairsPerStep = 32;
  const std::size_t pairs = depth / 2;
  const Ahead::Share share = ahead.share((pairs + kPairsPerStep - 1) / kPairsPerStep);
  for (std::size_t step = 0; step < pairs; step += kPairsPerStep) {
    ahead.prefetch(share);
    const std::size_t end = std::min(pairs, step + kPairsPerStep);
    for (std::size_t pair = step; pair < end; ++pair) {
      const auto b_left = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel + pair * kCols));
      const auto b_right = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel + pair * kCols + kLanes));
#pragma GCC unroll 16
      for (std::size_t i = 0; i < R; ++i) {
        const auto a = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(strip[pair * R + i])));
        left[i] = _mm512_dpbf16_ps(left[i], a, b_left);
        right[i] = _mm512_dpbf16_ps(right[i], a, b_right);
      }
    }
  }
#pragma GCC unroll 16
  for (std::size_t i = 0; i < R; ++i) {
    _mm512_storeu_ps(c + i * c_stride, left[i]);
    _mm512_storeu_ps(c + i * c_stride + kLanes, right[i]);
  }
}

void tile(std::size_t rows, std::size_t count, std::size_t depth, TileOperand strip, TileOperand panel, float* c,
          std::size_t c_stride, bool add, Ahead ahead) {
  static constexpr auto kTiles = []<std::size_t... R>(std::index_sequence<R...>) {
    return std::array{&full_tile<R + 1>...};
  }
  (std::make_index_sequence<kRows>());
  whole_tile<kRows, kCols>(rows, count, kCols, c, c_stride, add, [&](float* to, std::size_t stride) {
    kTiles[rows - 1](depth, static_cast<const std::uint32_t*>(strip.elements),
                     static_cast<const std::uint32_t*>(panel.elements), to, stride, add, ahead);
  });
}

void pack_strip(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, void* strip) {
  round_and_transpose(rows, depth, padded<kDepthStep>(depth), a, stride, static_cast<std::uint32_t*>(strip), rows);
}
void pack_strip_transposed(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, void* strip) {
  round_columns(rows, depth, a, stride, static_cast<std::uint32_t*>(strip), rows);
}

void pack_panel(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel) {
  auto* const to = static_cast<std::uint32_t*>(panel);
  if (count < kCols) std::fill_n(to, padded<kDepthStep>(depth) / 2 * kCols, 0u);
  round_columns(count, depth, b, stride, to, kCols);
}
void pack_panel_transposed(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel) {
  const std::size_t whole = padded<kDepthStep>(depth);
  auto* const to = static_cast<std::uint32_t*>(panel);
  round_and_transpose(count, depth, whole, b, stride, to, kCols);
  for (std::size_t pair = 0; count < kCols && pair < whole / 2; ++pair) {
    std::fill(to + pair * kCols + count, to + (pair + 1) * kCols, 0u);
  }
}

RNNSEARCH_BFLOAT16 void arithmetic(std::size_t steps, float* sums) {
  const auto ones = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3f803f80));
  __m512 sum[2 * kRows];
#pragma GCC unroll 24
  for (std::size_t i = 0; i < 2 * kRows; ++i) sum[i] = _mm512_loadu_ps(sums + i * kLanes);
  for (std::size_t step = 0; step < steps; ++step) {
#pragma GCC unroll 24
    for (std::size_t i = 0; i < 2 * kRows; ++i) sum[i] = _mm512_dpbf16_ps(sum[i], ones, ones);
  }
#pragma GCC unroll 24
  for (std::size_t i = 0; i < 2 * kRows; ++i) _mm512_storeu_ps(sums + i * kLanes, sum[i]);
}

constexpr ProductTiles kTable = {{kRows, 1, kCols, kDepthStep, kStepBytes, kStepBytes},
                                 {pack_strip, pack_strip_transposed, pack_panel, pack_panel_transposed},
                                 tile,
                                 false,
                                 arithmetic};

}  // namespace vector_unit

namespace matrix_unit {

constexpr std::size_t kRows = 32, kDepthStep = 32, kStepBytes = kDepthStep * sizeof(std::uint16_t);

// In assembly, because the intrinsics would require compiling the whole file for processors with AMX.
struct Amx {
  struct alignas(64) Configuration {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {};
    std::uint8_t rows[16] = {};
  };

  // The tile configuration is a state of the thread, and no other code of this process uses tiles.
  static void shape(std::size_t upper, std::size_t lower) {
    thread_local std::size_t last = 0;
    if (last == upper * 64 + lower) return;
    last = upper * 64 + lower;
    Configuration configuration;
    const std::size_t rows[8] = {upper, upper, lower, lower, upper, lower, 16, 16};
    for (std::size_t t = 0; t < 8; ++t) {
      configuration.rows[t] = static_cast<std::uint8_t>(std::max<std::size_t>(rows[t], 1));
      configuration.row_bytes[t] = 64;
    }
    __asm__ volatile("ldtilecfg %0" : : "m"(configuration));
  }
  template <int T>
  static void zero() {
    __asm__ volatile("tilezero %%tmm%c0" : : "i"(T));
  }
  template <int T>
  static void load(const void* from, std::size_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(T) : "memory");
  }
  template <int T>
  static void store(void* to, std::size_t stride) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(T) : "memory");
  }
  template <int C, int A, int B>
  static void multiply() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(C), "i"(A), "i"(B));
  }
};

void tile(std::size_t rows, std::size_t count, std::size_t depth, TileOperand strip, TileOperand panel, float* c,
          std::size_t c_stride, bool add, Ahead ahead) {
  whole_tile<kRows, kCols>(rows, count, kCols, c, c_stride, add, [&](float* to, std::size_t stride) {
    amx_full_tile<Amx>(rows, depth, static_cast<const std::uint16_t*>(strip.elements),
                       static_cast<const std::uint16_t*>(panel.elements), to, stride, add, ahead);
  });
}

// For every 32 k, writes the rows one after the other, 16 pairs each.
void pack_strip(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, void* strip) {
  auto* to = static_cast<std::uint32_t*>(strip);
  for (std::size_t k = 0; k < depth; k += kDepthStep, to += rows * kLanes) {
    round_rows(rows, std::min(kDepthStep, depth - k), a + k, stride, to, kLanes);
  }
}
void pack_strip_transposed(std::size_t rows, std::size_t depth, const float* a, std::size_t stride, void* strip) {
  alignas(64) std::uint32_t rounded[kLanes * kRows];
  auto* to = static_cast<std::uint32_t*>(strip);
  for (std::size_t k = 0; k < depth; k += kDepthStep, to += rows * kLanes) {
    const std::size_t here = std::min(kDepthStep, depth - k);
    if (here < kDepthStep) std::fill_n(rounded, kLanes * kRows, 0u);
    round_columns(rows, here, a + k * stride, stride, rounded, kRows);
    transpose(kLanes, rows, rounded, kRows, to, kLanes);
  }
}

constexpr std::size_t kRegisterPairs = kLanes * kLanes;

void pack_panel(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel) {
  auto* to = static_cast<std::uint32_t*>(panel);
  if (count < kCols || depth % kDepthStep != 0) std::fill_n(to, padded<kDepthStep>(depth) / 2 * kCols, 0u);
  for (std::size_t k = 0; k < depth; k += kDepthStep) {
    for (std::size_t j = 0; j < kCols; j += kLanes, to += kRegisterPairs) {
      if (j >= count) continue;
      round_columns(std::min(kLanes, count - j), std::min(kDepthStep, depth - k), b + k * stride + j, stride, to,
                    kLanes);
    }
  }
}
void pack_panel_transposed(std::size_t count, std::size_t depth, const float* b, std::size_t stride, void* panel) {
  const std::size_t whole = padded<kDepthStep>(depth);
  auto* const to = static_cast<std::uint32_t*>(panel);
  for_rounded_rows(count, depth, whole, b, stride,
                   [&](std::size_t pair, std::size_t pairs, const std::uint32_t* rounded) {
                     for (std::size_t p = 0; p < pairs; p += kLanes) {
                       for (std::size_t j = 0; j < kCols; j += kLanes) {
                         transpose(kLanes, kLanes, rounded + j * kRoundedStride + p, kRoundedStride,
                                   to + (pair + p) * kCols + j / kLanes * kRegisterPairs, kLanes);
                       }
                     }
                   });
}

void arithmetic(std::size_t steps, float* sums) {
  alignas(64) std::uint16_t ones[16 * kDepthStep];
  std::fill(std::begin(ones), std::end(ones), std::uint16_t{0x3f80});
  constexpr std::size_t kBytes = kCols * sizeof(float);
  Amx::shape(16, 16);
  Amx::load<0>(sums, kBytes);
  Amx::load<1>(sums + kLanes, kBytes);
  Amx::load<2>(sums + 16 * kCols, kBytes);
  Amx::load<3>(sums + 16 * kCols + kLanes, kBytes);
  Amx::load<4>(ones, kStepBytes);
  Amx::load<5>(ones, kStepBytes);
  Amx::load<6>(ones, kStepBytes);
  Amx::load<7>(ones, kStepBytes);
  for (std::size_t step = 0; step < steps; ++step) {
    Amx::multiply<0, 4, 6>();
    Amx::multiply<1, 4, 7>();
    Amx::multiply<2, 5, 6>();
    Amx::multiply<3, 5, 7>();
  }
  Amx::store<0>(sums, kBytes);
  Amx::store<1>(sums + kLanes, kBytes);
  Amx::store<2>(sums + 16 * kCols, kBytes);
  Amx::store<3>(sums + 16 * kCols + kLanes, kBytes);
}

constexpr ProductTiles kTable = {{kRows, kLanes, kCols, kDepthStep, kStepBytes, kStepBytes},
                                 {pack_strip, pack_strip_transposed, pack_panel, pack_panel_transposed},
                                 tile,
                                 false,
                                 arithmetic};

}  // namespace matrix_unit

// The features that the processor has and whose registers the operating system preserves across context switches.
struct Features {
  bool bfloat16 = false, amx = false;

  explicit Features(bool want_amx) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_OSXSAVE) == 0) return;
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
    const unsigned avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512VL;
    const bool vectors = (low & 0xe6) == 0xe6 && (b & avx512) == avx512;
    const bool matrices = (low & 0x60000) == 0x60000 && (d & (1u << 24)) != 0 && (d & (1u << 22)) != 0;
    if (!__get_cpuid_count(7, 1, &a, &b, &c, &d)) return;
    bfloat16 = vectors && (a & (1u << 5)) != 0;
    if (!bfloat16 || !matrices || !want_amx) return;
    constexpr long kRequestPermission = 0x1023, kTileData = 18;  // Linux's arch_prctl(2)
    amx = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }
};

// Checks a unit with a product of small integers, whose sums are exact. A unit is used only if the result is correct.
bool multiplies_correctly(const ProductTiles& tiles) {
  constexpr std::size_t kCount = 27, kDepth = 70;
  const std::size_t rows = std::min(kCount, tiles.max_rows), depth = tiles.padded(kDepth);
  std::vector<float> a(rows * kDepth), b(kDepth * kCount), c(rows * kCount, 1.0F);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7) - 3;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 2;
  std::vector<std::uint16_t> strip(rows * depth), panel(tiles.cols * depth);
  tiles.pack_strip(rows, kDepth, a.data(), kDepth, strip.data());
  tiles.pack_panel(kCount, kDepth, b.data(), kCount, panel.data());
  tiles.tile(rows, kCount, depth, {strip.data()}, {panel.data()}, c.data(), kCount, true, {});
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < kCount; ++j) {
      float sum = 1;
      for (std::size_t k = 0; k < kDepth; ++k) sum += a[i * kDepth + k] * b[k * kCount + j];
      if (c[i * kCount + j] != sum) return false;
    }
  }
  return true;
}

}  // namespace

const ProductTiles* matrix_unit_tiles() { return &matrix_unit::kTable; }

std::string_view bfloat16_unit() {
  static const std::string_view unit = [] {
    const char* const text = std::getenv("RNNSEARCH_SIMD");
    const std::string_view limit = text ? text : "";
    if (instruction_set() != "avx512") return "";  // also validates RNNSEARCH_SIMD
    const Features features(limit.empty());
    if (features.amx && multiplies_correctly(matrix_unit::kTable)) return "amx";
    return features.bfloat16 && multiplies_correctly(vector_unit::kTable) ? "avx512-bf16" : "";
  }();
  return unit;
}

bool bfloat16_pays() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool is_amd = __get_cpuid(0, &a, &b, &c, &d) != 0 && b == signature_AMD_ebx;
  return bfloat16_unit() == "amx" || (is_amd && !bfloat16_unit().empty());
}

const ProductTiles& bfloat16_tiles() {
  static const ProductTiles& tiles = bfloat16_unit() == "amx"           ? matrix_unit::kTable
                                     : bfloat16_unit() == "avx512-bf16" ? vector_unit::kTable
                                                                        : emulated_bfloat16_tiles();
  return tiles;
}

}  // namespace rnnsearch::kernels
#else
namespace rnnsearch::kernels {

const ProductTiles* matrix_unit_tiles() { return nullptr; }
std::string_view bfloat16_unit() { return ""; }
bool bfloat16_pays() { return false; }
const ProductTiles& bfloat16_tiles() { return emulated_bfloat16_tiles(); }

}  // namespace rnnsearch::kernels
#endif

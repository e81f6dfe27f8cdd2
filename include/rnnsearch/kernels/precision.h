// The precision of float matrix products. It concerns their operands only: sums, and everything that is not a product,
// stay in float. One exception: with bfloat16 and int8, the attention kernels of scores.h read annotations and keys
// as bfloat16.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// kBFloat16: operands are rounded to bfloat16 (8 bits of significand, to nearest, ties to even), the product of two
/// operands is exact, and sums are float. The error of an element is at most (1.01 x 2^-7 + (K + 1) 2^-24) times the
/// sum of the absolute values of its terms, and usually far smaller.
///
/// kInt8: for trained models only. Each row of the left operand and each column of the right one is cut into groups of
/// 128 neighbouring elements. A group has a scale, its largest magnitude / 127; its elements are rounded to multiples
/// of the scale (to nearest, ties to even). Sums of a group are exact, and are multiplied by both scales and added up
/// in float. A group with an infinite element or a NaN is NaN as a whole; one whose magnitudes are all below 2^-100 is
/// 0.
enum class Precision { kFloat32, kBFloat16, kInt8 };

/// The unit of this processor that multiplies bfloat16: "amx" (matrix unit) or "avx512-bf16"; empty if there is none.
/// RNNSEARCH_SIMD (see instruction_set.h) limits it too: avx512 excludes the matrix unit, avx2 excludes both.
std::string_view bfloat16_unit();
/// Whether the bfloat16_unit multiplies faster than float does: AMX, and AVX512-BF16 of AMD. Intel's AVX512-BF16 takes
/// twice the time of float where it was measured (Sapphire Rapids or later, 86 GFLOP/s of a thread against 177).
bool bfloat16_pays();

/// The unit of this processor that multiplies bytes and adds them up: "avx512-vnni"; empty if there is none, or if
/// RNNSEARCH_SIMD excludes it.
std::string_view int8_unit();

/// Sets the precision of all further float products of the process, like the number of threads. The initial value is
/// kFloat32. Without a bfloat16_unit, kBFloat16 is emulated: it is somewhat slower than kFloat32, and gives the bits of
/// AVX512-BF16. kInt8 without an int8_unit is far slower than kFloat32, and gives the same bits as with one.
void set_precision(Precision precision);
Precision precision();

/// The name of what rounds in this process: "f32", "bf16-avx512" (or its emulation), "bf16-amx", "int8", each with
/// "-sse2" at its end on a processor without fused multiply-add. The same training has the same bits wherever this name
/// is the same.
std::string arithmetic();

/// Parses "f32", "bf16", "int8" or "auto" (bf16 if bfloat16_pays(), otherwise f32). Throws Error, naming the choices,
/// for other names.
Precision precision_of(const std::string& name);
std::string name_of(Precision precision);

// bfloat16: the upper 16 bits of a float, with 8 bits of significand.

struct BFloat16 {
  std::uint16_t bits = 0;
};

/// Rounds to nearest, ties to even: the error is at most 2^-8 |value|, or 2^-134. Values above the largest bfloat16
/// become infinity, and NaN stays NaN.
inline BFloat16 nearest_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  const std::uint32_t nearest = bits + 0x7fff + (bits >> 16 & 1);
  return {static_cast<std::uint16_t>((is_nan ? bits | 0x400000 : nearest) >> 16)};
}

/// Rounds each value. Both matrices have the same shape.
void round_to_bfloat16(ConstMatrix from, MatrixView<BFloat16> to);

}  // namespace rnnsearch::kernels

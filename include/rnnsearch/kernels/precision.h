// The precision of float matrix products. It concerns their operands only: sums, and everything that is not a product,
// stay in float. One exception: with bfloat16, the attention kernels of attention.h read annotations and keys as
// bfloat16.
#pragma once

#include <string>
#include <string_view>

namespace rnnsearch::kernels {

/// kBFloat16: operands are rounded to bfloat16 (8 bits of significand, to nearest, ties to even), the product of two
/// operands is exact, and sums are float. The error of an element is at most (1.01 x 2^-7 + (K + 1) 2^-24) times the
/// sum of the absolute values of its terms, and usually far smaller.
enum class Precision { kFloat32, kBFloat16 };

/// The unit of this processor that multiplies bfloat16: "amx" (matrix unit) or "avx512-bf16"; empty if there is none.
/// RNNSEARCH_SIMD (see instruction_set.h) limits it too: avx512 excludes the matrix unit, avx2 excludes both.
std::string_view bfloat16_unit();

/// Sets the precision of all further float products of the process, like the number of threads. The initial value is
/// kFloat32; products of double are not affected. Without a bfloat16_unit, kBFloat16 is emulated: it uses the same
/// operands, is slower than kFloat32, and sums in another order than a unit does, so its bits differ.
void set_precision(Precision precision);
Precision precision();

/// Parses "f32", "bf16" or "auto" (bf16 if there is a bfloat16_unit, otherwise f32). Throws Error, naming the choices,
/// for other names.
Precision precision_of(const std::string& name);
std::string name_of(Precision precision);

}  // namespace rnnsearch::kernels

// In which precision float products run. Operands only: sums, and everything that is not a product, stay in float; but
// RNNsearch's attention, where its own code computes it, then reads annotations and keys as bfloat16 (attention.h).
#pragma once

#include <string>
#include <string_view>

namespace rnnsearch::kernels {

/// kBFloat16: operands are rounded to bfloat16 (8 bits of significand, to nearest even), products of two are exact,
/// sums are float. An element is within (1.01 x 2^-7 + (K + 1) 2^-24) times the sum of its terms' absolute values, and
/// mostly far nearer.
enum class Precision { kFloat32, kBFloat16 };

/// What multiplies bfloat16 here: "amx" (matrix unit) or "avx512-bf16"; empty: nothing does. RNNSEARCH_SIMD (see
/// instruction_set.h) is an upper limit for it too: avx512 leaves the matrix unit aside, avx2 both.
std::string_view bfloat16_unit();

/// Of all float products from now on, one for the whole process, like the number of threads; kFloat32 until it is set.
/// Products of double are not concerned. kBFloat16 without a bfloat16_unit is emulated: the same operands,
/// slower than kFloat32. Its sums run in another order than a unit's, so the bits differ from theirs.
void set_precision(Precision precision);
Precision precision();

/// "f32", "bf16", or "auto": bf16 where there is a bfloat16_unit, else f32. Throws Error naming the choices.
Precision precision_of(const std::string& name);
std::string name_of(Precision precision);

}  // namespace rnnsearch::kernels

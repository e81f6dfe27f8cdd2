// Selects the instruction set of the vector kernels. The first call chooses the best one that the processor supports.
#pragma once

#include <string>
#include <string_view>

namespace rnnsearch::kernels {

/// "avx512", "avx2" or "sse2" (which every x86-64 processor supports); on other processors Highway's name.
///
/// The environment variable RNNSEARCH_SIMD, set to one of the three, is an upper limit. It serves to test each
/// instruction set on one machine, and to make machines of different kinds compute the same bits. It is read once.
/// Throws Error for any other value.
std::string_view instruction_set();

/// The libraries of this process for the record of a run, such as "Highway 1.0.3, oneTBB 2021.8".
std::string libraries();

}  // namespace rnnsearch::kernels

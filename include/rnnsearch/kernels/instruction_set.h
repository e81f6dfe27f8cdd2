// Which compiled form of the vector kernels runs. The best one the processor can do is chosen at the first call.
#pragma once

#include <string>
#include <string_view>

namespace rnnsearch::kernels {

/// "avx512", "avx2" or "sse2" (what every x86-64 processor can do); on other processors Highway's name.
///
/// The environment variable RNNSEARCH_SIMD, set to one of the three, is an upper limit: to test each form on one
/// machine, and to have machines of different kinds compute the same bits. It is read once. Throws if it is set to
/// anything else.
std::string_view instruction_set();

/// "Highway 1.0.3, oneTBB 2021.8": what this process runs, for the record of a run.
std::string libraries();

}  // namespace rnnsearch::kernels

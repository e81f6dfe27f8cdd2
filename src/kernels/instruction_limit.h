#pragma once

namespace rnnsearch::kernels {

/// Applies RNNSEARCH_SIMD (see instruction_set.h). Call it before Highway chooses a target, which happens only once.
void limit_instruction_set();

}  // namespace rnnsearch::kernels

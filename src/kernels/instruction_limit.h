#pragma once

namespace rnnsearch::kernels {

/// Applies RNNSEARCH_SIMD (see instruction_set.h). To be called before Highway first chooses a target, which it does
/// only once.
void limit_instruction_set();

}  // namespace rnnsearch::kernels

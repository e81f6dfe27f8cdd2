// How a function that is compiled for each instruction set is called. The first call chooses the version for the best
// instruction set that the processor has and RNNSEARCH_SIMD allows.
#pragma once

#include <hwy/highway.h>

#include "kernels/partition.h"

namespace rnnsearch::kernels {

/// Applies RNNSEARCH_SIMD (see instruction_set.h). Call it before Highway chooses a target, which happens only once.
void limit_instruction_set();

}  // namespace rnnsearch::kernels

/// Once in a file, under HWY_ONCE and in rnnsearch::kernels: the function `name` of the chosen instruction set, after
/// HWY_EXPORT(name).
#define RNNSEARCH_CHOSEN(name) (::rnnsearch::kernels::limit_instruction_set(), &HWY_DYNAMIC_DISPATCH(name))

/// The same place: defines the public function `void name(const Args& args)`. It divides `count` rows into pieces of
/// `piece` rows, two expressions in args, and calls name(args, first, last) of the chosen instruction set for them, on
/// all threads.
#define RNNSEARCH_ROW_KERNEL(name, Args, count, piece)                                                      \
  HWY_EXPORT(name);                                                                                         \
  void name(const Args& args) {                                                                             \
    static auto* const kernel = RNNSEARCH_CHOSEN(name);                                                     \
    parallel_ranges(count, piece, [&](std::size_t first, std::size_t last) { kernel(args, first, last); }); \
  }

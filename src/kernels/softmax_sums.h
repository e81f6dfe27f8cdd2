// The sums of a softmax, block by block.
#pragma once

#include <cstddef>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// Exponentials of a row are summed in blocks of so many words, each block relative to its own largest element, and the
/// sums are added up in double. So a block need not know the largest element of the row, and blocks may be computed one
/// after the other or at once: the bits are the same. The division is part of the bits.
constexpr std::size_t kWordsPerSum = 512;

struct BlockSum {
  Real largest, sum;  // the sum of exp(x - largest)
};

struct LogSum {
  Real largest, log;  // log sum exp(x) = largest + log. The log is NaN if an element is NaN, or all are -infinity.
};

}  // namespace rnnsearch::kernels

// Divides elementwise work into pieces, by its shape and not by the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/base/parallel.h"

namespace rnnsearch::kernels {

/// Calls range(first, last) for pieces of `piece` items of [0, count), on all threads.
template <class Range>
void parallel_ranges(std::size_t count, std::size_t piece, const Range& range) {
  parallel_for(ceil_div(count, piece), [&](std::size_t i) { range(i * piece, std::min(count, (i + 1) * piece)); });
}

/// The number of rows of `cols` elements in a piece: about 16,384 elements, which take longer to process than
/// scheduling the piece on a thread.
inline std::size_t rows_per_piece(std::size_t cols) {
  return std::max<std::size_t>(1, 16384 / std::max<std::size_t>(1, cols));
}

}  // namespace rnnsearch::kernels

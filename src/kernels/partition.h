// How elementwise work is cut: by shape, unless the cut does not touch the bits.
#pragma once

#include <algorithm>
#include <cstddef>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/kernels/parallel.h"

namespace rnnsearch::kernels {

/// range(first, last) over [0, count) in pieces of `piece` items.
template <class Range>
void parallel_ranges(std::size_t count, std::size_t piece, const Range& range) {
  parallel_for(ceil_div(count, piece), [&](std::size_t i) { range(i * piece, std::min(count, (i + 1) * piece)); });
}

/// Rows of `cols` elements a piece: some 16,384 elements, which take longer than handing the piece to a thread.
inline std::size_t rows_a_piece(std::size_t cols) {
  return std::max<std::size_t>(1, 16384 / std::max<std::size_t>(1, cols));
}

}  // namespace rnnsearch::kernels

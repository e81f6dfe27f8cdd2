// Divides elementwise work into pieces, by its shape and not by the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/base/matrix.h"
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

/// Columns in a piece, for sums over rows that must be added in order.
constexpr std::size_t kColumnsPerPiece = 64;

/// Calls row(i) for each of `rows` rows of `cols` elements, on all threads.
template <class Row>
void for_each_row(std::size_t rows, std::size_t cols, const Row& row) {
  parallel_ranges(rows, rows_per_piece(cols), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) row(i);
  });
}

/// A row of a matrix that may be absent.
template <class Element>
Element* row_or_null(const MatrixView<Element>& matrix, std::size_t i) {
  return matrix.data ? matrix.row(i) : nullptr;
}

}  // namespace rnnsearch::kernels

// How a function that is compiled for each instruction set is called. The first call chooses the version for the best
// instruction set that the processor has and RNNSEARCH_SIMD allows. And how elementwise work is divided into pieces: by
// its shape and not by the number of threads.
#pragma once

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/parallel.h"

namespace rnnsearch::kernels {

/// Applies RNNSEARCH_SIMD (see instruction_set.h). Call it before Highway chooses a target, which happens only once.
void limit_instruction_set();

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

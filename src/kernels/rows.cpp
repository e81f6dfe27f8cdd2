#include "rnnsearch/kernels/rows.h"

#include <algorithm>
#include <cassert>

#include "kernels/partition.h"
#include "rnnsearch/base/parallel.h"

namespace rnnsearch::kernels {
namespace {
constexpr std::size_t kColumns = 64;        // columns in a piece, for sums over rows that must be added in order
constexpr std::size_t kElements = 1 << 17;  // elements in a piece that is only written
}  // namespace

template <class Real>
void gather_rows(ConstMatrixView<Real> from, std::span<const std::uint32_t> index, MatrixView<Real> to) {
  assert(index.size() == to.rows && from.cols == to.cols);
  parallel_ranges(to.rows, rows_per_piece(to.cols), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) std::copy_n(from.row(index[i]), to.cols, to.row(i));
  });
}

template <class Real>
void scatter_add_rows(ConstMatrixView<Real> from, std::span<const std::uint32_t> index, MatrixView<Real> to) {
  assert(index.size() == from.rows && from.cols == to.cols);
  parallel_ranges(to.cols, kColumns, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = 0; i < from.rows; ++i) {
      const Real* source = from.row(i);
      Real* target = to.row(index[i]);
      for (std::size_t j = first; j < last; ++j) target[j] += source[j];
    }
  });
}

template <class Real>
void zero_rows(MatrixView<Real> rows) {
  if (rows.stride == rows.cols) {  // contiguous: treat it as one long row
    parallel_ranges(rows.rows * rows.cols, kElements, [&](std::size_t first, std::size_t last) {
      std::fill(rows.data + first, rows.data + last, Real{0});
    });
  } else {
    for (std::size_t i = 0; i < rows.rows; ++i) std::fill_n(rows.row(i), rows.cols, Real{0});
  }
}

template <class Real>
void copy_rows(ConstMatrixView<Real> from, MatrixView<Real> to) {
  assert(from.rows == to.rows && from.cols == to.cols);
  parallel_ranges(to.rows, rows_per_piece(to.cols), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) std::copy_n(from.row(i), to.cols, to.row(i));
  });
}

template <class Real>
void add(ConstMatrixView<Real> from, MatrixView<Real> to) {
  assert(from.rows == to.rows && from.cols == to.cols);
  parallel_ranges(to.rows, rows_per_piece(to.cols), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const Real* source = from.row(i);
      Real* target = to.row(i);
      for (std::size_t j = 0; j < to.cols; ++j) target[j] += source[j];
    }
  });
}

template <class Real>
void add_to_rows(std::span<const Real> bias, MatrixView<Real> to) {
  assert(bias.size() == to.cols);
  parallel_ranges(to.rows, rows_per_piece(to.cols), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      Real* target = to.row(i);
      for (std::size_t j = 0; j < to.cols; ++j) target[j] += bias[j];
    }
  });
}

template <class Real>
void add_column_sums(ConstMatrixView<Real> from, std::span<Real> sums) {
  assert(sums.size() == from.cols);
  // Reads long runs of a row, because rows are far apart in memory, and adds four rows at a time, to load and store
  // each sum less often. The terms of a column are added in the order of rows.
  constexpr std::size_t kRows = 4;
  Real* const to = sums.data();
  const std::size_t a_thread = from.cols / (4 * thread_count()) / kColumns * kColumns;
  parallel_ranges(from.cols, std::clamp(a_thread, kColumns, 16 * kColumns), [&](std::size_t first, std::size_t last) {
    std::size_t i = 0;
    for (; i + kRows <= from.rows; i += kRows) {
      const Real *a = from.row(i), *b = from.row(i + 1), *c = from.row(i + 2), *d = from.row(i + 3);
      for (std::size_t j = first; j < last; ++j) to[j] = to[j] + a[j] + b[j] + c[j] + d[j];
    }
    for (; i < from.rows; ++i) {
      const Real* a = from.row(i);
      for (std::size_t j = first; j < last; ++j) to[j] += a[j];
    }
  });
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                        \
  template void gather_rows(ConstMatrixView<Real>, std::span<const std::uint32_t>, MatrixView<Real>);      \
  template void scatter_add_rows(ConstMatrixView<Real>, std::span<const std::uint32_t>, MatrixView<Real>); \
  template void zero_rows(MatrixView<Real>);                                                               \
  template void copy_rows(ConstMatrixView<Real>, MatrixView<Real>);                                        \
  template void add(ConstMatrixView<Real>, MatrixView<Real>);                                              \
  template void add_to_rows(std::span<const Real>, MatrixView<Real>);                                      \
  template void add_column_sums(ConstMatrixView<Real>, std::span<Real>);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::kernels

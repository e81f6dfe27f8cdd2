#include "rnnsearch/kernels/rows.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "kernels/dispatch.h"
#include "rnnsearch/base/parallel.h"

namespace rnnsearch::kernels {
namespace {
constexpr std::size_t kElements = 1 << 17;  // elements in a piece that is only written
}  // namespace

void gather_rows(ConstMatrix from, std::span<const std::uint32_t> index, Matrix to) {
  assert(index.size() == to.rows && from.cols == to.cols);
  for_each_row(to.rows, to.cols, [&](std::size_t i) { std::copy_n(from.row(index[i]), to.cols, to.row(i)); });
}

void scatter_add_rows(ConstMatrix from, std::span<const std::uint32_t> index, Matrix to) {
  assert(index.size() == from.rows && from.cols == to.cols);
  // A piece has some columns of the target rows of one group: each row belongs to one piece, which keeps the order.
  const std::size_t columns = ceil_div(to.cols, kColumnsPerPiece);
  const std::size_t most = thread_count() == 1 ? 1 : 4 * thread_count() / std::max<std::size_t>(1, columns);
  const std::size_t groups =
      std::bit_floor(std::clamp<std::size_t>(from.rows / 256, 1, std::max<std::size_t>(1, most)));
  parallel_for(columns * groups, [&](std::size_t piece) {
    const std::size_t group = piece / columns, first = piece % columns * kColumnsPerPiece;
    const std::size_t last = std::min(to.cols, first + kColumnsPerPiece);
    for (std::size_t i = 0; i < from.rows; ++i) {
      if ((index[i] & (groups - 1)) != group) continue;
      const Real* source = from.row(i);
      Real* target = to.row(index[i]);
      for (std::size_t j = first; j < last; ++j) target[j] += source[j];
    }
  });
}

void zero_rows(Matrix rows) {
  if (rows.stride == rows.cols) {  // contiguous: treat it as one long row
    parallel_ranges(rows.rows * rows.cols, kElements, [&](std::size_t first, std::size_t last) {
      std::fill(rows.data + first, rows.data + last, Real{0});
    });
  } else {
    for_each_row(rows.rows, rows.cols / 8, [&](std::size_t i) { std::fill_n(rows.row(i), rows.cols, Real{0}); });
  }
}

void copy_rows(ConstMatrix from, Matrix to) {
  assert(from.rows == to.rows && from.cols == to.cols);
  for_each_row(to.rows, to.cols, [&](std::size_t i) { std::copy_n(from.row(i), to.cols, to.row(i)); });
}

void add(ConstMatrix from, Matrix to) {
  assert(from.rows == to.rows && from.cols == to.cols);
  for_each_row(to.rows, to.cols, [&](std::size_t i) {
    const Real* source = from.row(i);
    Real* target = to.row(i);
    for (std::size_t j = 0; j < to.cols; ++j) target[j] += source[j];
  });
}

void add_to_rows(std::span<const Real> bias, Matrix to) {
  assert(bias.size() == to.cols);
  for_each_row(to.rows, to.cols, [&](std::size_t i) {
    Real* target = to.row(i);
    for (std::size_t j = 0; j < to.cols; ++j) target[j] += bias[j];
  });
}

void add_column_sums(ConstMatrix from, std::span<Real> sums) {
  assert(sums.size() == from.cols);
  // Reads long runs of a row, because rows are far apart in memory, and adds four rows at a time, to load and store
  // each sum less often. The terms of a column are added in the order of rows.
  constexpr std::size_t kRows = 4;
  Real* const to = sums.data();
  const std::size_t a_thread = from.cols / (4 * thread_count()) / kColumnsPerPiece * kColumnsPerPiece;
  parallel_ranges(from.cols, std::clamp(a_thread, kColumnsPerPiece, 16 * kColumnsPerPiece),
                  [&](std::size_t first, std::size_t last) {
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

}  // namespace rnnsearch::kernels

// Functions that move and sum rows of matrices. All results are bit-identical for any number of threads.
#pragma once

#include <cstdint>
#include <span>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// to row i = from row index[i].  to [index.size(), W], from [any, W]
void gather_rows(ConstMatrix from, std::span<const std::uint32_t> index, Matrix to);

/// to row index[i] += from row i. Indices may be repeated; additions to one row are done in the order of i.
void scatter_add_rows(ConstMatrix from, std::span<const std::uint32_t> index, Matrix to);

void zero_rows(Matrix rows);

void copy_rows(ConstMatrix from, Matrix to);

void add(ConstMatrix from, Matrix to);

/// Adds bias [W] to every row of `to`.
void add_to_rows(std::span<const Real> bias, Matrix to);

/// sums [W] += the sum of all rows, added from the first to the last.
void add_column_sums(ConstMatrix from, std::span<Real> sums);

}  // namespace rnnsearch::kernels

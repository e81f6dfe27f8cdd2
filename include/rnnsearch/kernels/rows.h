// Functions that move and sum rows of matrices. All results are bit-identical for any number of threads.
#pragma once

#include <cstdint>
#include <span>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// to row i = from row index[i].  to [index.size(), W], from [any, W]
template <class Real>
void gather_rows(ConstMatrixView<Real> from, std::span<const std::uint32_t> index, MatrixView<Real> to);

/// to row index[i] += from row i. Indices may be repeated; additions to one row are done in the order of i.
template <class Real>
void scatter_add_rows(ConstMatrixView<Real> from, std::span<const std::uint32_t> index, MatrixView<Real> to);

template <class Real>
void zero_rows(MatrixView<Real> rows);

template <class Real>
void copy_rows(ConstMatrixView<Real> from, MatrixView<Real> to);

template <class Real>
void add(ConstMatrixView<Real> from, MatrixView<Real> to);

/// Adds bias [W] to every row of `to`.
template <class Real>
void add_to_rows(std::span<const Real> bias, MatrixView<Real> to);

/// sums [W] += the sum of all rows, added from the first to the last.
template <class Real>
void add_column_sums(ConstMatrixView<Real> from, std::span<Real> sums);

}  // namespace rnnsearch::kernels

#include "rnnsearch/kernels/gemm.h"

#include <dnnl.h>

#include <algorithm>
#include <type_traits>

#include "rnnsearch/base/error.h"
#include "rnnsearch/kernels/parallel.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::kernels {
namespace {

enum class Layout { kAsIs, kTransposed };

// One tile on the calling thread. a and b are given by their stored form; M, N, K are those of the product.
void tile_product(const float* a, std::size_t a_stride, Layout a_layout, const float* b, std::size_t b_stride,
                  Layout b_layout, float* c, std::size_t c_stride, std::size_t M, std::size_t N, std::size_t K,
                  Into into) {
  const auto status = dnnl_sgemm(a_layout == Layout::kAsIs ? 'N' : 'T', b_layout == Layout::kAsIs ? 'N' : 'T',
                                 static_cast<dnnl_dim_t>(M), static_cast<dnnl_dim_t>(N), static_cast<dnnl_dim_t>(K),
                                 1.0f, a, static_cast<dnnl_dim_t>(a_stride), b, static_cast<dnnl_dim_t>(b_stride),
                                 into == Into::kAdd ? 1.0f : 0.0f, c, static_cast<dnnl_dim_t>(c_stride));
  if (status != dnnl_success) {
    throw Error(
        text_of("kernels: oneDNN refused a float product of ", M, " x ", K, " x ", N, " (status ", status, ")"));
  }
}

void tile_product(const double* a, std::size_t a_stride, Layout a_layout, const double* b, std::size_t b_stride,
                  Layout b_layout, double* c, std::size_t c_stride, std::size_t M, std::size_t N, std::size_t K,
                  Into into) {
  for (std::size_t i = 0; i < M; ++i) {
    for (std::size_t j = 0; j < N; ++j) {
      double sum = into == Into::kAdd ? c[i * c_stride + j] : 0.0;
      for (std::size_t k = 0; k < K; ++k) {
        sum += (a_layout == Layout::kAsIs ? a[i * a_stride + k] : a[k * a_stride + i]) *
               (b_layout == Layout::kAsIs ? b[k * b_stride + j] : b[j * b_stride + k]);
      }
      c[i * c_stride + j] = sum;
    }
  }
}

std::size_t pieces_of(std::size_t whole, std::size_t piece) {
  return (whole + piece - 1) / piece;
}

template <class Real>
void product(ConstMatrixView<Real> a, Layout a_layout, ConstMatrixView<Real> b, Layout b_layout, MatrixView<Real> c,
             std::size_t K, Into into) {
  if (c.rows == 0 || c.cols == 0) return;
  if (K == 0) {  // oneDNN leaves C alone then
    if (into == Into::kOverwrite) zero_rows<Real>(c);
    return;
  }
  // A step of the recurrence has some 80 rows: cut only columns, so that its threads read different weights. Products
  // over all words have thousands: square tiles, whose operands stay in the second-level cache.
  const std::size_t tile_rows = c.rows <= 160 ? c.rows : 256;
  const std::size_t tile_cols = c.rows <= 160 ? 128 : 256;
  const std::size_t row_tiles = pieces_of(c.rows, tile_rows);
  const std::size_t col_tiles = pieces_of(c.cols, tile_cols);
  parallel_for(row_tiles * col_tiles, [&](std::size_t tile) {
    const std::size_t i = (tile % row_tiles) * tile_rows;
    const std::size_t j = (tile / row_tiles) * tile_cols;
    const Real* a_tile = a_layout == Layout::kAsIs ? a.data + i * a.stride : a.data + i;
    const Real* b_tile = b_layout == Layout::kAsIs ? b.data + j : b.data + j * b.stride;
    tile_product(a_tile, a.stride, a_layout, b_tile, b.stride, b_layout, c.data + i * c.stride + j, c.stride,
                 std::min(tile_rows, c.rows - i), std::min(tile_cols, c.cols - j), K, into);
  });
}

}  // namespace

template <class Real>
void multiply(ConstMatrixView<Real> a, ConstMatrixView<Real> b, MatrixView<Real> c, Into into) {
  assert(a.rows == c.rows && b.cols == c.cols && a.cols == b.rows);
  product(a, Layout::kAsIs, b, Layout::kAsIs, c, a.cols, into);
}

template <class Real>
void multiply_transposed(ConstMatrixView<Real> a, ConstMatrixView<Real> b, MatrixView<Real> c, Into into) {
  assert(a.rows == c.rows && b.rows == c.cols && a.cols == b.cols);
  product(a, Layout::kAsIs, b, Layout::kTransposed, c, a.cols, into);
}

template <class Real>
void accumulate_outer(ConstMatrixView<Real> a, ConstMatrixView<Real> b, MatrixView<Real> c) {
  assert(a.cols == c.rows && b.cols == c.cols && a.rows == b.rows);
  product(a, Layout::kTransposed, b, Layout::kAsIs, c, a.rows, Into::kAdd);
}

template void multiply(ConstMatrixView<float>, ConstMatrixView<float>, MatrixView<float>, Into);
template void multiply(ConstMatrixView<double>, ConstMatrixView<double>, MatrixView<double>, Into);
template void multiply_transposed(ConstMatrixView<float>, ConstMatrixView<float>, MatrixView<float>, Into);
template void multiply_transposed(ConstMatrixView<double>, ConstMatrixView<double>, MatrixView<double>, Into);
template void accumulate_outer(ConstMatrixView<float>, ConstMatrixView<float>, MatrixView<float>);
template void accumulate_outer(ConstMatrixView<double>, ConstMatrixView<double>, MatrixView<double>);

}  // namespace rnnsearch::kernels

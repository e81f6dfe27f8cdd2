// Matrix products. float runs on packed tiles in registers (src/kernels/product_tiles.h), double (for gradient checks)
// on a plain loop.
//
// The bits of an element depend on its row of op(a), its column of op(b) and its old value alone: not on the other rows
// and columns, and not on the number of threads. float: an element is within (K + 1) 2^-24 times the sum of its terms'
// absolute values; in bfloat16, as precision.h says. A product must not be made inside a piece of parallel_for.
#pragma once

#include <cstddef>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/scratch.h"

namespace rnnsearch::kernels {

enum class Into { kOverwrite, kAdd };

/// c = a b, or c += a b.  a [M, K], b [K, N], c [M, N]
template <class Real>
void multiply(ConstMatrixView<Real> a, ConstMatrixView<Real> b, MatrixView<Real> c, Into into = Into::kOverwrite);

/// c = a b^T: the gradient of a layer's input.  a [M, K], b [N, K], c [M, N]
template <class Real>
void multiply_transposed(ConstMatrixView<Real> a, ConstMatrixView<Real> b, MatrixView<Real> c,
                         Into into = Into::kOverwrite);

/// c += a^T b: the gradient of a layer's weights, over all rows at once.  a [R, M], b [R, N], c [M, N]
template <class Real>
void accumulate_outer(ConstMatrixView<Real> a, ConstMatrixView<Real> b, MatrixView<Real> c);

struct ProductTiles;

/// A right-hand side that many products share (recurrent weights, over all steps of a batch), in the order in which a
/// product reads it. It is a copy: after the original has changed, pack again. double: a plain copy.
template <class Real>
class PackedMatrix {
 public:
  void pack(ConstMatrixView<Real> b) { pack(b, nullptr); }
  /// As if b were transposed.
  void pack_transposed(ConstMatrixView<Real> b) { pack_transposed(b, nullptr); }
  /// In the frame's memory, valid as long as that is.
  void pack(ConstMatrixView<Real> b, Scratch::Frame& frame) { pack(b, &frame); }
  void pack_transposed(ConstMatrixView<Real> b, Scratch::Frame& frame) { pack_transposed(b, &frame); }

  std::size_t rows() const { return rows_; }  // K
  std::size_t cols() const { return cols_; }  // N

 private:
  template <class Other>
  friend void multiply(ConstMatrixView<Other> a, const PackedMatrix<Other>& b, MatrixView<Other> c, Into into);

  void pack(ConstMatrixView<Real> b, Scratch::Frame* frame);
  void pack_transposed(ConstMatrixView<Real> b, Scratch::Frame* frame);
  MatrixView<Real> space(std::size_t rows, std::size_t cols, Scratch::Frame* frame);

  const ProductTiles* tiles_ = nullptr;
  std::size_t rows_ = 0, cols_ = 0;
  MatrixView<Real> elements_;
  Buffer<Real> own_;  // where they are, unless a frame has them
};

/// c = a b, or c += a b, with the bits of the product of what was packed.
template <class Real>
void multiply(ConstMatrixView<Real> a, const PackedMatrix<Real>& b, MatrixView<Real> c, Into into = Into::kOverwrite);

}  // namespace rnnsearch::kernels

// Matrix products. float uses register-blocked tiles (src/kernels/products/product_tiles.h); double, for gradient
// checks, uses a plain loop.
//
// The bits of an element depend only on its row of op(a), its column of op(b) and its old value: not on the other rows
// and columns, and not on the number of threads. The error of an element in float is at most (K + 1) 2^-24 times the
// sum of the absolute values of its terms; for bfloat16 see precision.h. Products must not be called inside
// parallel_for, and c must not share elements with a or b, which are read while c is written.
#pragma once

#include <cstddef>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/buffer.h"

namespace rnnsearch::kernels {

enum class Into { kOverwrite, kAdd };

/// c = a b, or c += a b.  a [M, K], b [K, N], c [M, N]
void multiply(ConstMatrix a, ConstMatrix b, Matrix c, Into into = Into::kOverwrite);

/// c = a b^T: the gradient of a layer's input.  a [M, K], b [N, K], c [M, N]
void multiply_transposed(ConstMatrix a, ConstMatrix b, Matrix c, Into into = Into::kOverwrite);

/// c += a^T b: the gradient of a layer's weights, over all rows at once.  a [R, M], b [R, N], c [M, N]
void accumulate_outer(ConstMatrix a, ConstMatrix b, Matrix c);

struct ProductTiles;

/// A right-hand side that many products share (for example recurrent weights in all steps of a batch), stored in the
/// order in which a product reads it. It is a copy: pack it again when the original has changed.
class PackedMatrix {
 public:
  /// frame: its memory is used, and the matrix is valid as long as the frame; without one the matrix owns its memory.
  void pack(ConstMatrix b, Scratch::Frame* frame = nullptr) { pack(b, false, frame); }
  /// Packs the transpose of b.
  void pack_transposed(ConstMatrix b, Scratch::Frame* frame = nullptr) { pack(b, true, frame); }

  std::size_t rows() const { return rows_; }  // K
  std::size_t cols() const { return cols_; }  // N

  /// For products of this module (product_tiles.h): how the matrix is packed, and its panels, one after the other.
  const ProductTiles* tiles() const { return tiles_; }
  const std::byte* panels() const { return reinterpret_cast<const std::byte*>(elements_.data); }

 private:
  void pack(ConstMatrix b, bool transposed, Scratch::Frame* frame);

  const ProductTiles* tiles_ = nullptr;
  std::size_t rows_ = 0, cols_ = 0;
  Matrix elements_;
  Buffer<Real> own_;  // memory of elements_, unless a frame was given
};

/// c = a b, or c += a b, bit-identical to the product with the unpacked matrix.
void multiply(ConstMatrix a, const PackedMatrix& b, Matrix c, Into into = Into::kOverwrite);

}  // namespace rnnsearch::kernels

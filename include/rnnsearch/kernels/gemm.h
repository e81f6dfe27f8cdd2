// Matrix products. float runs on oneDNN, double (for gradient checks) on a plain loop.
//
// A product is cut into tiles of C that depend on its shape alone, not on the number of threads: same bits on 1 and 64.
// float: an element is within (K + 1) 2^-24 times the sum of its terms' absolute values.
#pragma once

#include "rnnsearch/base/matrix.h"

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

}  // namespace rnnsearch::kernels

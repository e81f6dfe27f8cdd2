#include "model/tanh_layer.h"

#include "rnnsearch/kernels/gates.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {

template <class Real>
void tanh_layer_forward(const TanhWeights<Real>& weights, ConstMatrixView<Real> input, MatrixView<Real> output) {
  kernels::multiply<Real>(input, weights.W, output);
  kernels::add_to_rows<Real>(weights.b, output);
  kernels::tanh_forward<Real>(output);
}

template <class Real>
void tanh_layer_backward(const TanhWeights<Real>& weights, const TanhWeights<Real>& gradient,
                         ConstMatrixView<Real> input, ConstMatrixView<Real> output, MatrixView<Real> output_gradient,
                         MatrixView<Real> input_gradient) {
  kernels::tanh_backward<Real>(output, output_gradient);
  kernels::accumulate_outer<Real>(input, output_gradient, gradient.W);
  kernels::add_column_sums<Real>(output_gradient, gradient.b);
  kernels::multiply_transposed<Real>(output_gradient, weights.W, input_gradient);
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                            \
  template void tanh_layer_forward(const TanhWeights<Real>&, ConstMatrixView<Real>, MatrixView<Real>);         \
  template void tanh_layer_backward(const TanhWeights<Real>&, const TanhWeights<Real>&, ConstMatrixView<Real>, \
                                    ConstMatrixView<Real>, MatrixView<Real>, MatrixView<Real>);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::model

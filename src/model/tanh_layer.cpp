#include "model/tanh_layer.h"

#include "rnnsearch/kernels/gates.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {

void tanh_layer_forward(const TanhWeights& weights, ConstMatrix input, Matrix output) {
  kernels::multiply(input, weights.W, output);
  kernels::add_to_rows(weights.b, output);
  kernels::tanh_forward(output);
}

void tanh_layer_backward(const TanhWeights& weights, const TanhWeights& gradient, ConstMatrix input, ConstMatrix output,
                         Matrix output_gradient, Matrix input_gradient) {
  kernels::tanh_backward({output, output_gradient});
  kernels::accumulate_outer(input, output_gradient, gradient.W);
  kernels::add_column_sums(output_gradient, gradient.b);
  kernels::multiply_transposed(output_gradient, weights.W, input_gradient);
}

}  // namespace rnnsearch::model

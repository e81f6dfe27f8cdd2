// y = tanh(x W + b): used for the initial state of the decoder, and for the summary of the source in Cho et al. (2014).
#pragma once

#include "model/weights.h"
#include "rnnsearch/base/matrix.h"

namespace rnnsearch::model {

void tanh_layer_forward(const TanhWeights& weights, ConstMatrix input, Matrix output);

/// ADDS to `gradient`, writes input_gradient, and overwrites output_gradient.
void tanh_layer_backward(const TanhWeights& weights, const TanhWeights& gradient, ConstMatrix input, ConstMatrix output,
                         Matrix output_gradient, Matrix input_gradient);

}  // namespace rnnsearch::model

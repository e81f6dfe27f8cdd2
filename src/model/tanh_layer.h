// y = tanh(x W + b): used for the initial state of the decoder, and for the summary of the source in Cho et al. (2014).
#pragma once

#include "model/weights.h"
#include "rnnsearch/base/matrix.h"

namespace rnnsearch::model {

template <class Real>
void tanh_layer_forward(const TanhWeights<Real>& weights, ConstMatrixView<Real> input, MatrixView<Real> output);

/// ADDS to `gradient`, writes input_gradient, and overwrites output_gradient.
template <class Real>
void tanh_layer_backward(const TanhWeights<Real>& weights, const TanhWeights<Real>& gradient,
                         ConstMatrixView<Real> input, ConstMatrixView<Real> output, MatrixView<Real> output_gradient,
                         MatrixView<Real> input_gradient);

}  // namespace rnnsearch::model

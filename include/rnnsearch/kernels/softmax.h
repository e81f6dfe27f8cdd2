// The output layer's elementwise parts.
//
// float, up to 30,000 words, logits of any size: log-probabilities and losses within 2e-6 + 2e-7 |exact|, gradients
// within 1e-6 + 1e-5 |exact|.
#pragma once

#include <cstdint>
#include <span>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

// The softmax of logits + bias: bias [K] is added here, where a row is in the cache anyway.

/// Each row of logits [R, K] becomes its log-probabilities.
template <class Real>
void log_softmax(std::span<const Real> bias, MatrixView<Real> logits);

/// loss[i] = -log softmax(logits row i + bias)[target[i]]; the logits become the loss's gradient, softmax -
/// onehot(target). With label_smoothing E (Szegedy et al. 2016, section 7) they become the gradient of the cross
/// entropy with the smoothed target q = (1 - E) onehot(target) + E / K instead, softmax - q; the loss stays the plain
/// one.
template <class Real>
void softmax_cross_entropy(std::span<const Real> bias, MatrixView<Real> logits, std::span<const std::uint32_t> target,
                           std::span<double> loss, double label_smoothing = 0);
/// The same losses; the logits become logits + bias.
template <class Real>
void softmax_loss(std::span<const Real> bias, MatrixView<Real> logits, std::span<const std::uint32_t> target,
                  std::span<double> loss);

/// Maxout over pairs (Goodfellow et al. 2013): t[k] = max(x[2k], x[2k+1]).  x [R, 2l], t [R, l]
template <class Real>
void maxout_forward(ConstMatrixView<Real> x, MatrixView<Real> t);
/// The larger of each pair receives the gradient (the first of two equal ones), the other 0.
template <class Real>
void maxout_backward(ConstMatrixView<Real> x, ConstMatrixView<Real> t_gradient, MatrixView<Real> x_gradient);

}  // namespace rnnsearch::kernels

// The elementwise parts of the output layer. R rows, K words.
//
// Errors for float, up to 30,000 words and for logits of any size: log-probabilities and losses within 2e-6 + 2e-7
// |exact|, gradients within 1e-6 + 1e-5 |exact|. All functions add bias [K] to the logits first, because the row is
#pragma once

#include <cstdint>
#include <span>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

// then in the cache anyway.

/// Replaces each row of logits [R, K] by its log-probabilities.
template <class Real>
void log_softmax(std::span<const Real> bias, MatrixView<Real> logits);

/// The same of a single row, on the calling thread alone, so that it may be called inside parallel_for.
template <class Real>
void log_softmax(std::span<const Real> bias, std::span<Real> logits);

/// to = log((1 - share) exp(to) + share exp(from)), element by element: the logarithm of a mixture of two distributions
/// whose logarithms are `from` and `to`. Errors for float: within 1e-6 + 2e-7 |exact|.  0 <= share <= 1; from, to [R,
/// K]
template <class Real>
void mix_log_probabilities(ConstMatrixView<Real> from, double share, MatrixView<Real> to);

/// to = (1 - share) to + share from, element by element.  from, to [R, K]
template <class Real>
void interpolate(ConstMatrixView<Real> from, double share, MatrixView<Real> to);

/// loss[i] = -log softmax(logits row i + bias)[target[i]]. The logits are replaced by the gradient of the loss, softmax
/// - onehot(target). With label_smoothing E (Szegedy et al. 2016, section 7) they are replaced by the gradient of the
/// cross entropy with the smoothed target q = (1 - E) onehot(target) + E / K, which is softmax - q; `loss` is not
/// smoothed.
template <class Real>
void softmax_cross_entropy(std::span<const Real> bias, MatrixView<Real> logits, std::span<const std::uint32_t> target,
                           std::span<double> loss, double label_smoothing = 0);
/// Computes the same losses without the gradient. The logits are replaced by logits + bias.
template <class Real>
void softmax_loss(std::span<const Real> bias, MatrixView<Real> logits, std::span<const std::uint32_t> target,
                  std::span<double> loss);

/// Maxout over pairs (Goodfellow et al. 2013): t[k] = max(x[2k], x[2k+1]).  x [R, 2l], t [R, l]
template <class Real>
void maxout_forward(ConstMatrixView<Real> x, MatrixView<Real> t);
/// The larger element of each pair (the first if they are equal) receives the gradient, the other one 0.
/// x_gradient may be x.
template <class Real>
void maxout_backward(ConstMatrixView<Real> x, ConstMatrixView<Real> t_gradient, MatrixView<Real> x_gradient);

}  // namespace rnnsearch::kernels

// The elementwise parts of the output layer. R rows, K words.
//
// Errors for float, up to 30,000 words and for logits of any size: log-probabilities and losses within 2e-6 + 2e-7
// |exact|, gradients within 1e-6 + 1e-5 |exact|. The functions with a bias [K] add it to the logits first, because the
// row is then in the cache anyway.
#pragma once

#include <cstdint>
#include <span>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// Replaces each row of logits [R, K] by its log-probabilities.
void log_softmax(std::span<const Real> bias, Matrix logits);

/// The same of a single row, on the calling thread alone, so that it may be called inside parallel_for.
void log_softmax(std::span<const Real> bias, std::span<Real> logits);

struct Mixture {
  ConstMatrix from;  // [R, K]
  double share;      // of `from`, from 0 to 1
  Matrix to;         // [R, K]
};
/// to = log((1 - share) exp(to) + share exp(from)), element by element: the logarithm of a mixture of two distributions
/// whose logarithms are `from` and `to`. Errors for float: within 1e-6 + 2e-7 |exact|.
void mix_log_probabilities(const Mixture& args);
/// to = (1 - share) to + share from, element by element.
void interpolate(const Mixture& args);

struct CrossEntropy {
  std::span<const Real> bias;             // [K]
  Matrix logits;                          // [R, K]
  std::span<const std::uint32_t> target;  // [R]
  std::span<double> loss;                 // [R] out: -log softmax(logits row i + bias)[target[i]]
  double label_smoothing = 0;             // E
  std::span<const Real> weight{};         // [R] w; all are 1 if it is empty
};
/// The logits are replaced by the gradient of the loss, softmax - onehot(target). With label smoothing (Szegedy et al.
/// 2016, section 7) they are replaced by the gradient of the cross entropy with the smoothed target q = (1 - E)
/// onehot(target) + E / K, which is softmax - q; `loss` is not smoothed. The gradient of row i is multiplied by w[i].
void softmax_cross_entropy(const CrossEntropy& args);
/// Computes the same losses without the gradient. The logits are replaced by logits + bias.
void softmax_loss(const CrossEntropy& args);

/// Maxout over pairs (Goodfellow et al. 2013): t[k] = max(x[2k], x[2k+1]).  x [R, 2l], t [R, l]
void maxout_forward(ConstMatrix x, Matrix t);
/// The larger element of each pair (the first if they are equal) receives the gradient, the other one 0.
struct MaxoutBackward {
  ConstMatrix x, t_gradient;  // [R, 2l], [R, l]
  Matrix x_gradient;          // [R, 2l] out; may be x
};
void maxout_backward(const MaxoutBackward& args);

}  // namespace rnnsearch::kernels

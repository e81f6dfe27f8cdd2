// The softmax over the vocabulary: p(y) = softmax(t W_o + b_w). W_o may be an embedding table's transpose, W_o = E^T
// (tied embeddings: Press and Wolf 2017; Inan, Khosravi and Socher 2017). The logits of all words never exist at once:
// blocks of rows go through product, softmax, loss and gradient in turn, so that memory does not grow with the batch. R
// rows, H width of t, K vocabulary.
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/scratch.h"

namespace rnnsearch::layers {

template <class Real>
struct OutputWeights {
  MatrixView<Real> W_o;  // [H, K], or empty
  std::span<Real> b_w;   // [K]
  MatrixView<Real> E{};  // [K, H], or empty: one of the two is there
};

template <class Real>
struct OutputActivations {
  kernels::Scratch memory;
  kernels::PackedMatrix<Real> packed_W_o;  // of tied weights, for output_log_probabilities
  /// packed_W_o is of the weights as they are. To be set to false when they change, by who calls
  /// output_log_probabilities, which sets it: it packs E once for many calls.
  bool packed = false;
};

/// log p of every word. t [R, H], log_probabilities [R, K]
template <class Real>
void output_log_probabilities(const OutputWeights<Real>& weights, ConstMatrixView<Real> t,
                              OutputActivations<Real>& activations, MatrixView<Real> log_probabilities);

/// loss[i] = -log p(target[i])
template <class Real>
void output_loss(const OutputWeights<Real>& weights, ConstMatrixView<Real> t, std::span<const WordId> target,
                 OutputActivations<Real>& activations, std::span<double> loss);

/// The same losses, and the gradient of their sum: ADDS to `gradient`, overwrites t_gradient [R, H], which may be t.
/// With label_smoothing it is the gradient of the smoothed cross entropy (kernels/softmax.h); the losses are the same.
template <class Real>
void output_loss_and_backward(const OutputWeights<Real>& weights, const OutputWeights<Real>& gradient,
                              ConstMatrixView<Real> t, std::span<const WordId> target,
                              OutputActivations<Real>& activations, std::span<double> loss, MatrixView<Real> t_gradient,
                              double label_smoothing = 0);

}  // namespace rnnsearch::layers

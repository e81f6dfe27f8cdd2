// The softmax over the vocabulary: p(y) = softmax(t W_o + b_w). With tied embeddings (Press and Wolf 2017; Inan,
// Khosravi and Socher 2017), W_o is the transpose of an embedding table, W_o = E^T. The logits of all rows are never in
// memory at the same time: blocks of rows go through product, softmax, loss and gradient in turn, so memory does not
// grow with the batch. R rows, H width of t, K vocabulary.
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/scratch.h"
#include "rnnsearch/kernels/top_words.h"

namespace rnnsearch::layers {

struct OutputWeights {
  Matrix W_o;           // [H, K]; empty if E is given
  std::span<Real> b_w;  // [K]
  Matrix E{};           // [K, H]; empty if W_o is given
};

struct OutputActivations {
  kernels::Scratch memory;
  kernels::PackedMatrix packed_W_o;  // for output_log_probabilities and output_top_words
  /// Whether packed_W_o is up to date. These two functions set it after packing W_o, which they do once for many calls;
  /// the caller must reset it when the weights change.
  bool packed = false;
};

/// Computes log p of every word. t [R, H], log_probabilities [R, K] out.
void output_log_probabilities(const OutputWeights& weights, ConstMatrix t, OutputActivations& activations,
                              Matrix log_probabilities);

/// Computes only the most probable words, to the same bits: see kernels/top_words.h.
void output_top_words(const OutputWeights& weights, ConstMatrix t, OutputActivations& activations,
                      kernels::TopWords& top);

/// loss[i] = -log p(target[i])
void output_loss(const OutputWeights& weights, ConstMatrix t, std::span<const WordId> target,
                 OutputActivations& activations, std::span<double> loss);

/// Computes the same losses and the gradient of their sum: ADDS to `gradient` and overwrites t_gradient [R, H], which
/// may be t. With label_smoothing it is the gradient of the smoothed cross entropy (kernels/softmax.h), while the
/// losses are not smoothed. weight: [R] by which the gradients of the rows are multiplied, or empty.
void output_loss_and_backward(const OutputWeights& weights, const OutputWeights& gradient, ConstMatrix t,
                              std::span<const WordId> target, OutputActivations& activations, std::span<double> loss,
                              Matrix t_gradient, double label_smoothing = 0, std::span<const Real> weight = {});

}  // namespace rnnsearch::layers

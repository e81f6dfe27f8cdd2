// The readout: from state, previous word and context to the distribution of the next word (Bahdanau, Cho and Bengio
// 2015, appendix A.2.2):
//   t~_i = s_{i-1} U_o + y_{i-1} V_o + c_i C_o + b_o    t = maxout over pairs    p(y_i) = softmax(t W_o + b_w)
// R rows, n state width, m embedding width, C context width, l maxout units, K vocabulary.
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/kernels/scratch.h"
#include "rnnsearch/layers/output.h"

namespace rnnsearch::layers {

template <class Real>
struct ReadoutWeights {
  MatrixView<Real> U_o;       // [n, 2l]
  MatrixView<Real> V_o;       // [m, 2l]
  MatrixView<Real> C_o;       // [C, 2l]
  std::span<Real> b_o;        // [2l]
  MatrixView<Real> W_o_left;  // [l, rank] or empty: the first factor of W_o in the released code, t W_o_left W_o
  MatrixView<Real> W_o;       // [l or rank, K]
  std::span<Real> b_w;        // [K]
};

template <class Real>
struct ReadoutInput {
  ConstMatrixView<Real> state;    // [R, n] s_{i-1}
  ConstMatrixView<Real> word;     // [R, m] y_{i-1}
  ConstMatrixView<Real> context;  // [R, C] c_i
};

template <class Real>
struct ReadoutActivations {
  kernels::Scratch memory;
  OutputActivations<Real> output;
};

/// Computes log p of every word. log_probabilities [R, K] out.
template <class Real>
void readout_log_probabilities(const ReadoutWeights<Real>& weights, const ReadoutInput<Real>& input,
                               ReadoutActivations<Real>& activations, MatrixView<Real> log_probabilities);

/// loss[i] = -log p(target[i])
template <class Real>
void readout_loss(const ReadoutWeights<Real>& weights, const ReadoutInput<Real>& input, std::span<const WordId> target,
                  ReadoutActivations<Real>& activations, std::span<double> loss);

template <class Real>
struct ReadoutGradients {
  MatrixView<Real> state, word, context;  // shapes as in ReadoutInput
};
/// Computes the same losses and the gradient of their sum: ADDS to `gradient` and returns the gradients of the input.
/// These are in memory of `frame`, which must belong to activations.memory, so that they reuse the memory of the
/// logits. With label_smoothing it is the gradient of the smoothed cross entropy (kernels/softmax.h), while the losses
/// are not smoothed.
template <class Real>
ReadoutGradients<Real> readout_loss_and_backward(const ReadoutWeights<Real>& weights,
                                                 const ReadoutWeights<Real>& gradient, const ReadoutInput<Real>& input,
                                                 std::span<const WordId> target, ReadoutActivations<Real>& activations,
                                                 std::span<double> loss, kernels::Scratch::Frame& frame,
                                                 double label_smoothing = 0);

}  // namespace rnnsearch::layers

// From state, previous word and context to the next word's distribution (Bahdanau, Cho and Bengio 2015, appendix
// A.2.2):
//   t~_i = s_{i-1} U_o + y_{i-1} V_o + c_i C_o + b_o    t = maxout over pairs    p(y_i) = softmax(t W_o + b_w)
// R rows, l maxout units, K vocabulary.
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
  MatrixView<Real> W_o_left;  // [l, rank] or empty: the released code's factor, nothing between it and W_o
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

/// log p of every word. log_probabilities [R, K]
template <class Real>
void readout_log_probabilities(const ReadoutWeights<Real>& weights, const ReadoutInput<Real>& input,
                               ReadoutActivations<Real>& activations, MatrixView<Real> log_probabilities);

/// loss[i] = -log p(target[i])
template <class Real>
void readout_loss(const ReadoutWeights<Real>& weights, const ReadoutInput<Real>& input, std::span<const WordId> target,
                  ReadoutActivations<Real>& activations, std::span<double> loss);

template <class Real>
struct ReadoutGradients {
  MatrixView<Real> state, word, context;  // as the input
};
/// The same losses, and the gradient of their sum: ADDS to `gradient`, returns the input's, which are in the frame's
/// memory: of activations.memory, so that they take no more than the logits before them did. With label_smoothing it is
/// the gradient of the smoothed cross entropy (kernels/softmax.h); the losses are the same.
template <class Real>
ReadoutGradients<Real> readout_loss_and_backward(const ReadoutWeights<Real>& weights,
                                                 const ReadoutWeights<Real>& gradient, const ReadoutInput<Real>& input,
                                                 std::span<const WordId> target, ReadoutActivations<Real>& activations,
                                                 std::span<double> loss, kernels::Scratch::Frame& frame,
                                                 double label_smoothing = 0);

}  // namespace rnnsearch::layers

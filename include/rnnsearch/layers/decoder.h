// The recurrence of the decoder over a packed batch (Bahdanau, Cho and Bengio 2015, appendix A.2.2). c_i is computed
// from s_{i-1} by attention, or one c is used for the whole sentence; s_i is the gated unit applied to s_{i-1}, a word
// and c_i. Step i computes c_i for all its sentences, and s_i for the sentences that continue. B sentences, Y words in
// the batch, D distinct rows of the input, m embedding width, n state width, A alignment width (0 without attention), C
// context width.
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/phases.h"
#include "rnnsearch/kernels/attention.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/scratch.h"
#include "rnnsearch/layers/packing.h"
#include "rnnsearch/layers/repeated_rows.h"

namespace rnnsearch::layers {

template <class Real>
struct DecoderWeights {
  MatrixView<Real> W_in;           // [m, 3n]      W | W_z | W_r
  MatrixView<Real> U_query_gates;  // [n, A + 2n]  W_a | U_z | U_r
  MatrixView<Real> U;              // [n, n]
  MatrixView<Real> C;              // [C, 3n]      C | C_z | C_r
  std::span<Real> b;               // [n]: b; or [3n]: b | b_z | b_r
  std::span<Real> v_a;             // [A]
};

template <class Real>
struct DecoderInput {
  RepeatedRows<Real> words;                                // [Y, m] the word that the state update reads at each step
  ConstMatrixView<Real> initial_states;                    // [B, n] s_0, sentences in packed order
  const kernels::AttentionMemory<Real>* memory = nullptr;  // with attention: sentences in the caller's order
  ConstMatrixView<Real> fixed_context;                     // without attention: [B, C], sentences in packed order
  PhaseTimes* phases = nullptr;                            // receives the time of attention; may be nullptr
};

template <class Real>
struct DecoderActivations {
  kernels::Buffer<Real> previous;  // [Y, n] s_{i-1}, a result
  kernels::Buffer<Real> context;   // [Y, C] c_i, a result
  kernels::Buffer<Real> alpha;     // [Y, longest source], a result
  kernels::Buffer<Real> x;         // [Y, 3n] h~ | z | r; after the backward pass the gradient of x
  kernels::Buffer<Real> query;     // [Y, A]
  kernels::Scratch memory;
};

template <class Real>
void decoder_forward(const DecoderWeights<Real>& weights, const Packing& packing, const DecoderInput<Real>& input,
                     DecoderActivations<Real>& activations);

template <class Real>
struct DecoderGradients {
  MatrixView<Real> previous;     // [Y, n] in: from the readout; out: that of s_0 in the rows of step 0
  MatrixView<Real> context;      // [Y, C] in: from the readout; out: the complete gradient
  MatrixView<Real> words;        // [D, m] ADDS, of the distinct rows
  MatrixView<Real> annotations;  // with attention: [source words, C] ADDS, sentence by sentence
  MatrixView<Real> keys;         // with attention: [source words, A] ADDS
  /// in: with attention, [Y, longest source] as in kernels::AttentionBackward, or empty
  ConstMatrixView<Real> guide{};
};
/// ADDS to `gradient`.
template <class Real>
void decoder_backward(const DecoderWeights<Real>& weights, const DecoderWeights<Real>& gradient, const Packing& packing,
                      const DecoderInput<Real>& input, DecoderActivations<Real>& activations,
                      const DecoderGradients<Real>& gradients);

}  // namespace rnnsearch::layers

// The decoder's recurrence over a packed batch (Bahdanau, Cho and Bengio 2015, appendix A.2.2):
//   c_i from s_{i-1} by attention, or one c for the sentence;  s_i = gated unit of s_{i-1}, a word, and c_i
// Step i makes c_i for all its sentences, and s_i for those that go on. Y words of the batch, m embedding, n state
// width, A alignment width (0 without attention), C context width.
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/phases.h"
#include "rnnsearch/kernels/attention.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/scratch.h"
#include "rnnsearch/layers/packing.h"

namespace rnnsearch::layers {

template <class Real>
struct DecoderWeights {
  MatrixView<Real> W_in;           // [m, 3n]      W | W_z | W_r
  MatrixView<Real> U_query_gates;  // [n, A + 2n]  W_a | U_z | U_r
  MatrixView<Real> U;              // [n, n]
  MatrixView<Real> C;              // [C, 3n]      C | C_z | C_r
  std::span<Real> b;               // [n]: b, or [3n]: b | b_z | b_r
  std::span<Real> v_a;             // [A]
};

template <class Real>
struct DecoderInput {
  ConstMatrixView<Real> words;                             // [Y, m] what the state update reads at each step
  ConstMatrixView<Real> initial_states;                    // [B, n] s_0, sentences in packed order
  const kernels::AttentionMemory<Real>* memory = nullptr;  // with attention; sentences in the caller's order
  ConstMatrixView<Real> fixed_context;                     // [B, C] without attention; sentences in packed order
  PhaseTimes* phases = nullptr;                            // may be nullptr: where attention's time is counted
};

template <class Real>
struct DecoderActivations {
  kernels::Buffer<Real> previous;  // [Y, n] s_{i-1}: a result
  kernels::Buffer<Real> context;   // [Y, C] c_i: a result
  kernels::Buffer<Real> alpha;     // [Y, longest source]
  kernels::Buffer<Real> x;         // [Y, 3n]: h~ | z | r; after the backward pass, the gradient of x
  kernels::Buffer<Real> query;     // [Y, A]
  kernels::Scratch memory;
};

template <class Real>
void decoder_forward(const DecoderWeights<Real>& weights, const Packing& packing, const DecoderInput<Real>& input,
                     DecoderActivations<Real>& activations);

template <class Real>
struct DecoderGradients {
  MatrixView<Real> previous;     // [Y, n] in: from the readout; used up. The rows of step 0 end as the gradient of s_0
  MatrixView<Real> context;      // [Y, C] in: from the readout; out: whole
  MatrixView<Real> words;        // [Y, m] ADDS
  MatrixView<Real> annotations;  // with attention: [source words, C] ADDS, sentence by sentence
  MatrixView<Real> keys;         // with attention: [source words, A] ADDS
};
/// ADDS to `gradient`.
template <class Real>
void decoder_backward(const DecoderWeights<Real>& weights, const DecoderWeights<Real>& gradient, const Packing& packing,
                      const DecoderInput<Real>& input, DecoderActivations<Real>& activations,
                      const DecoderGradients<Real>& gradients);

}  // namespace rnnsearch::layers

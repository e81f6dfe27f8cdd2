// The alignment model's elementwise part (Bahdanau, Cho and Bengio 2015, appendix A.1.2):
//   e_j = v_a . tanh(q + k_j)    alpha = softmax(e)    c = sum_j alpha_j h_j        q = s W_a,  k_j = h_j U_a
// R rows (one a hypothesis or target sentence), A alignment width, C context width. Annotations and keys lie sentence
// by sentence: rows offsets[b] to offsets[b + 1] belong to sentence b.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/bfloat16.h"

namespace rnnsearch::kernels {

template <class Real>
struct AttentionMemory {
  std::span<const std::size_t> offsets;  // [B + 1]
  ConstMatrixView<Real> annotations;     // [words, C] h_j
  ConstMatrixView<Real> keys;            // [words, A] k_j
  std::span<const Real> v_a;             // [A]
  // float: both may be given rounded, and are then read in place of the above, which may be empty. Every step reads all
  // of them, from caches that they do not fit: half the size is nearly half the time.
  ConstMatrixView<BFloat16> rounded_annotations{}, rounded_keys{};
};

/// alpha has at least the longest sentence's columns; columns past a row's sentence are set to exactly 0. The maximum
/// of e is subtracted before exp. float: an energy is within 1e-6 sum |v_a| of the exact one, so alpha within twice
/// that, relative (and a rounding).
template <class Real>
void attention_forward(const AttentionMemory<Real>& memory, std::span<const std::uint32_t> sentence,
                       ConstMatrixView<Real> query, MatrixView<Real> alpha, MatrixView<Real> context);

template <class Real>
struct AttentionBackward {
  ConstMatrixView<Real> query, alpha;      // [R, A], [R, Tx] of the forward pass (tanh is computed again, not stored)
  ConstMatrixView<Real> context_gradient;  // [R, C]
  MatrixView<Real> query_gradient;         // [R, A] out
  MatrixView<Real> keys_gradient;          // [words, A] ADDS
  MatrixView<Real> v_a_gradient;           // [B, A] ADDS to the row of the sentence, so that threads do not meet
};
/// All but the annotations' gradient. REQUIRES: no sentence occurs twice in `sentence`.
template <class Real>
void attention_backward(const AttentionMemory<Real>& memory, std::span<const std::uint32_t> sentence,
                        const AttentionBackward<Real>& of);

/// Which rows of the matrices of all steps belong to sentence b: rows[offsets[b]] to rows[offsets[b + 1]].
struct AttentionSteps {
  std::span<const std::size_t> offsets;  // [B + 1]
  std::span<const std::uint32_t> rows;
};
/// ADDS dL/dh_j = sum_i alpha_ij dL/dc_i over the steps i of each sentence, in their order, to annotations_gradient
/// [words, C]. For all steps at once, because step by step each would read and write the gradient of every annotation.
/// source_offsets [B + 1] as in AttentionMemory; alpha [rows, Tx], context_gradient [rows, C].
template <class Real>
void annotations_backward(std::span<const std::size_t> source_offsets, const AttentionSteps& steps,
                          ConstMatrixView<Real> alpha, ConstMatrixView<Real> context_gradient,
                          MatrixView<Real> annotations_gradient);

}  // namespace rnnsearch::kernels

// The elementwise part of the alignment model (Bahdanau, Cho and Bengio 2015, appendix A.1.2):
//   e_j = v_a . tanh(q + k_j)    alpha = softmax(e)    c = sum_j alpha_j h_j        q = s W_a,  k_j = h_j U_a
// R rows (one for each hypothesis or target sentence), A alignment width, C context width, B sentences, Tx source words
// of the longest sentence. Annotations and keys are stored sentence by sentence: rows offsets[b] to offsets[b + 1]
// belong to sentence b. All views are owned by the caller.
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
  // For float, both may be given in bfloat16, which is then read in place of the float matrices (these may be empty).
  // Every step reads all of them, and they do not fit into the caches, so half the size takes nearly half the time.
  ConstMatrixView<BFloat16> rounded_annotations{}, rounded_keys{};
};

/// Computes alpha [R, Tx] and context [R, C] from query [R, A]; row i attends to sentence[i]. alpha may have more
/// columns; columns past the sentence of a row are set to exactly 0. The maximum of e is subtracted before exp. Error
/// for float: an energy is within 1e-6 sum |v_a| of the exact one, so the relative error of alpha is at most twice
/// that, plus one rounding.
template <class Real>
void attention_forward(const AttentionMemory<Real>& memory, std::span<const std::uint32_t> sentence,
                       ConstMatrixView<Real> query, MatrixView<Real> alpha, MatrixView<Real> context);

template <class Real>
struct AttentionBackward {
  ConstMatrixView<Real> query, alpha;      // [R, A], [R, Tx] from the forward pass (tanh is recomputed, not stored)
  ConstMatrixView<Real> context_gradient;  // [R, C]
  MatrixView<Real> query_gradient;         // [R, A] out
  MatrixView<Real> keys_gradient;          // [words, A] ADDS
  MatrixView<Real> v_a_gradient;           // [B, A] ADDS to the row of the sentence, so that threads do not conflict
  ConstMatrixView<Real> guide{};           // [R, Tx] g_j, at least 0: adds the cost -sum_j g_j log alpha_j; or empty
};
/// Computes all gradients except that of the annotations. REQUIRES: no sentence occurs twice in `sentence`.
template <class Real>
void attention_backward(const AttentionMemory<Real>& memory, std::span<const std::uint32_t> sentence,
                        const AttentionBackward<Real>& of);

/// The rows that belong to a sentence in matrices of all steps: rows[offsets[b]] to rows[offsets[b + 1]] for sentence
/// b.
struct AttentionSteps {
  std::span<const std::size_t> offsets;  // [B + 1]
  std::span<const std::uint32_t> rows;
};
/// ADDS dL/dh_j = sum_i alpha_ij dL/dc_i over the steps i of each sentence, in their order, to annotations_gradient
/// [words, C]. It handles all steps at once, because a separate pass for each step would read and write the gradient of
/// every annotation. source_offsets: [B + 1], AttentionMemory::offsets. alpha [rows, Tx], context_gradient [rows, C].
template <class Real>
void annotations_backward(std::span<const std::size_t> source_offsets, const AttentionSteps& steps,
                          ConstMatrixView<Real> alpha, ConstMatrixView<Real> context_gradient,
                          MatrixView<Real> annotations_gradient);

}  // namespace rnnsearch::kernels

// The gradient of the annotations, which is the same for every score of scores.h: of c_i = sum_j alpha_ij h_j.
// C context width, B sentences, Tx source words of the longest sentence. Annotations are stored sentence by sentence:
// rows offsets[b] to offsets[b + 1] belong to sentence b. All views are owned by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// The rows that belong to a sentence in matrices of all steps: rows[offsets[b]] to rows[offsets[b + 1]] for sentence
/// b.
struct AttentionSteps {
  std::span<const std::size_t> offsets;  // [B + 1]
  std::span<const std::uint32_t> rows;
};
/// ADDS dL/dh_j = sum_i alpha_ij dL/dc_i over the steps i of each sentence, in their order, to annotations_gradient
/// [words, C]. It handles all steps at once, because a separate pass for each step would read and write the gradient of
/// every annotation. source_offsets: [B + 1], ScoredMemory::offsets. alpha [rows, Tx], context_gradient [rows, C].
template <class Real>
void annotations_backward(std::span<const std::size_t> source_offsets, const AttentionSteps& steps,
                          ConstMatrixView<Real> alpha, ConstMatrixView<Real> context_gradient,
                          MatrixView<Real> annotations_gradient);

}  // namespace rnnsearch::kernels

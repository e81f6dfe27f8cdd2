// The gradient of the annotations, which is the same for every score of scores.h: of c_i = sum_j alpha_ij h_j.
// C context width, B sentences, Tx source words of the longest sentence. Annotations are stored sentence by sentence:
// rows offsets[b] to offsets[b + 1] belong to sentence b. All views are owned by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rnnsearch/base/matrix.h"

namespace rnnsearch::kernels {

/// ADDS dL/dh_j = sum_i alpha_ij dL/dc_i over the steps i of each sentence, in their order. It handles all steps at
/// once, because a separate pass for each step would read and write the gradient of every annotation.
struct AnnotationsBackward {
  std::span<const std::size_t> source_offsets;  // [B + 1] ScoredMemory::offsets
  // The rows of sentence b in the matrices of all steps: rows[offsets[b]] to rows[offsets[b + 1]].
  std::span<const std::size_t> offsets;  // [B + 1]
  std::span<const std::uint32_t> rows;
  ConstMatrix alpha, context_gradient;  // [all rows, Tx], [all rows, C]
  Matrix annotations_gradient;          // [words, C]
};
void annotations_backward(const AnnotationsBackward& args);

}  // namespace rnnsearch::kernels

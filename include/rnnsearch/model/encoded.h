// The encoded source sentences of a search. B sentences, C width of c_i, n' width of the keys, S width of the state of
// a decoder layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/bfloat16.h"
#include "rnnsearch/kernels/buffer.h"

namespace rnnsearch::model {

/// Model::encode creates it; the caller owns it, and must change it only by `replace`.
struct Encoded {
  std::vector<std::size_t> offsets;   // [B + 1] rows of sentence b, including </s>, are offsets[b] to offsets[b + 1]
  kernels::Buffer<Real> annotations;  // [words, C] h_j, sentence by sentence (empty without attention)
  kernels::Buffer<Real> keys;  // [words, n'] h_j U_a (empty without attention or U_a, or if rounded_keys is used)
  // In a precision below float32 each step reads these instead (rounded_keys is empty without U_a).
  kernels::Buffer<kernels::BFloat16> rounded_annotations, rounded_keys;
  kernels::Buffer<Real> contexts;        // [B, C] c (empty with attention)
  kernels::Buffer<Real> initial_states;  // [B, layers * S] s_0, layer by layer

  std::size_t sentences() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::size_t source_length(std::size_t b) const { return offsets[b + 1] - offsets[b]; }

  /// Keeps these sentences, which are in ascending order, and adds those of `more`, which the same model has encoded in
  /// the same precision. They get the numbers 0, 1, ... in that order.
  void replace(std::span<const std::uint32_t> kept, Encoded more);
};

}  // namespace rnnsearch::model

// The encoded source sentences of a search. B sentences, C width of c_i, n' width of the keys, S width of the state of
// a decoder layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/kernels/allocator.h"
#include "rnnsearch/kernels/bfloat16.h"

namespace rnnsearch::model {

/// Model::encode creates it; the caller owns it, and must change it only by `replace`.
struct Encoded {
  std::vector<std::size_t> offsets;  // [B + 1] rows of sentence b, including </s>, are offsets[b] to offsets[b + 1]
  template <class Element>
  using Elements = std::vector<Element, kernels::Allocator<Element>>;
  Elements<Real> annotations;  // [words, C] h_j, sentence by sentence (empty without attention)
  Elements<Real> keys;         // [words, n'] h_j U_a (empty without attention or U_a, or if rounded_keys is used)
  // In a precision below float32 each step reads these instead (rounded_keys is empty without U_a).
  Elements<kernels::BFloat16> rounded_annotations, rounded_keys;
  std::vector<Real> contexts;        // [B, C] c (empty with attention)
  std::vector<Real> initial_states;  // [B, layers * S] s_0, layer by layer

  std::size_t sentences() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::size_t source_length(std::size_t b) const { return offsets[b + 1] - offsets[b]; }

  /// Keeps these sentences, which are in ascending order, and adds those of `more`, which the same model has encoded in
  /// the same precision. They get the numbers 0, 1, ... in that order.
  void replace(std::span<const std::uint32_t> kept, Encoded more);
};

}  // namespace rnnsearch::model

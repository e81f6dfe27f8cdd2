// The encoded source sentences of a search, and what its hypotheses continue from, as a value: the search reorders, drops
// and repeats its rows without knowing what they hold. B sentences, R rows (hypotheses), n' width of the keys, S width of
// the state of a decoder layer, H width of the readout's vector, C width of c_i.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"
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

/// Model::start creates it, and only Model::predict, Model::advance and `select` change it. Step i of a search is
/// `predict`, `select` with the chosen words y_i, and `advance`.
struct SearchState {
  std::vector<std::uint32_t> sentence;  // [R] the encoded sentence that each row translates
  std::vector<WordId> previous;         // [R] y_{i-1}; kStart at i = 1
  std::vector<WordId> word;             // [R] y_i, from `select` on
  std::vector<std::uint32_t> written;   // [R] i - 1: the number of words before y_i
  /// [R, layers * S] s_{i-1}, layer by layer. After `predict` s_i, if the model updates the state before the readout.
  kernels::Buffer<Real> states;
  kernels::Buffer<Real> fed;      // [R, H] the vector of the readout that step i reads; without columns if none does
  kernels::Buffer<Real> context;  // [R, C] c_i, if `advance` needs it
  kernels::Buffer<Real> spare;    // the memory in which `select` gathers rows

  std::size_t rows() const { return sentence.size(); }
  /// Row k becomes a copy of row parent[k], and its next word is chosen[k]. There may be more or fewer rows afterwards.
  void select(std::span<const std::uint32_t> parent, std::span<const WordId> chosen);
  /// Between two steps: adds `count` rows of `other`, a state before its first step, from row `first` on. Their
  /// sentences get the numbers that they have there plus `shift`.
  void append(const SearchState& other, std::size_t first, std::size_t count, std::uint32_t shift);
};

}  // namespace rnnsearch::model

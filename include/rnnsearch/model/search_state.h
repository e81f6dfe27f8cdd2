// What the hypotheses of a search continue from, as a value: the search reorders, drops and repeats its rows without
// knowing what they hold. R rows (hypotheses), S width of the state of a decoder layer, H width of the readout's
// vector, C width of c_i.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/kernels/buffer.h"

namespace rnnsearch::model {

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

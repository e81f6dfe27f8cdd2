// The kernel of top_words.cpp for one row, compiled for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rnnsearch::kernels {

struct WordScore {
  float score;
  std::uint32_t word;

  /// Whether this word belongs before the other one: its score is higher, or equal and its number is lower.
  bool before(const WordScore& other) const { return score != other.score ? score > other.score : word < other.word; }
};

struct TopWordsRows {
  /// Writes the elements above the threshold, in their order, with the numbers first + i. Returns how many there are.
  /// `to` has room for n.
  std::size_t (*above)(std::size_t n, const float* x, float threshold, std::uint32_t first, WordScore* to);
};

}  // namespace rnnsearch::kernels

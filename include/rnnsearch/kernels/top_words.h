// The most probable words of rows of log-probabilities, in order. R rows, H width of t, K words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/gemm.h"

namespace rnnsearch::kernels {

/// A word of a row, and where its log-probability belongs.
struct WordOfRow {
  std::size_t row;
  std::uint32_t word;
  Real* log_probability;  // out
};

/// For each of R rows a list of its most probable words.
struct TopWords {
  struct Entry {
    Real log_probability;
    std::uint32_t word;
  };

  std::size_t limit = 1;               // at least 1: the length of the lists, which the caller sets
  std::size_t words = 0;               // K
  std::vector<Entry> entries;          // [R, limit]
  std::vector<std::uint32_t> lengths;  // [R]
  std::vector<std::uint8_t> nan;       // [R]
  /// Computes the log-probabilities of further words, with the bits that they would have in a list; words in ascending
  /// order are fastest. It reads what the lists were made from. Must not be called inside parallel_for.
  std::function<void(std::span<const WordOfRow>)> look_up;

  /// The words of row i, the most probable first, and of equally probable ones the lower number first.
  std::span<const Entry> row(std::size_t i) const { return std::span(entries).subspan(i * limit, lengths[i]); }
  /// Whether the row holds a NaN, so that all log-probabilities are NaN; the list is empty then.
  bool is_nan(std::size_t i) const { return nan[i] != 0; }
  /// Whether the words that are not in the list all have the probability 0. Otherwise each of them is at most as
  /// probable as the last one of the list, and may be equally probable with a lower number, if their scores differ by
  /// less than the rounding of a log-probability.
  bool is_complete(std::size_t i) const { return lengths[i] < limit || words <= limit; }

  void shape(std::size_t R, std::size_t K) {
    words = K;
    entries.resize(R * limit);
    lengths.assign(R, 0);
    nan.assign(R, 0);
  }
};

/// Whether a belongs before b in a list: its log-probability is higher, or equal and its number is lower.
inline constexpr auto belongs_before = [](const TopWords::Entry& a, const TopWords::Entry& b) {
  return a.log_probability != b.log_probability ? a.log_probability > b.log_probability : a.word < b.word;
};

/// Writes row i of `top`, which has its shape, from the log-probabilities of the words of that row. Ties and NaN as
/// above.
void select_top_words(std::span<const Real> log_probabilities, std::size_t i, TopWords& top);

/// Writes the `top.limit` most probable words of each row of the output layer, or fewer if no others have a probability
/// above 0, without the scores of all words in memory: blocks of words go through product, softmax statistics and
/// selection while they are in the cache. The log-probabilities have the bits that log_softmax (softmax.h) gives to the
/// product t W_o, and do not depend on the other rows and on the number of threads. top.look_up reads the arguments.
/// Must not be called inside parallel_for.  t [R, H], W_o [H, K], bias [K]
void top_words(ConstMatrix t, const PackedMatrix& W_o, std::span<const Real> bias, TopWords& top);

}  // namespace rnnsearch::kernels

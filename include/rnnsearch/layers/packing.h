// Packed, time-major batches: no padding is ever multiplied.
//
// Sentences are put longest first. Step t holds the active[t] sentences that still run, as one block of rows; all steps
// one after the other make one matrix [words, width]. Sentence p (in packed order) at step t is row first_row[t] + p.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"

namespace rnnsearch::layers {

struct Packing {
  std::vector<std::uint32_t>
      order;  // [B] order[p]: the caller's index of packed sentence p; equal lengths keep their order
  std::vector<std::size_t> active;     // [T] never rising
  std::vector<std::size_t> first_row;  // [T + 1]; the last one is the number of words

  Packing() = default;
  /// REQUIRES: every length is at least 1.
  explicit Packing(std::span<const std::size_t> lengths);

  std::size_t sentences() const { return order.size(); }
  std::size_t steps() const { return active.size(); }
  std::size_t words() const { return first_row.empty() ? 0 : first_row.back(); }
  /// Sentences that go on after step t.
  std::size_t continuing(std::size_t t) const { return t + 1 < active.size() ? active[t + 1] : 0; }

  /// The rows of step t, and the first `count` of them.
  template <class Element>
  MatrixView<Element> step(const MatrixView<Element>& matrix, std::size_t t) const {
    return matrix.row_range(first_row[t], active[t]);
  }
  template <class Element>
  MatrixView<Element> step(const MatrixView<Element>& matrix, std::size_t t, std::size_t count) const {
    return matrix.row_range(first_row[t], count);
  }
};

/// The packed rows of each sentence, sentences in the caller's order: rows[offsets[b]] to rows[offsets[b + 1]].
struct SentenceRows {
  std::vector<std::size_t> offsets;  // [B + 1]
  std::vector<std::uint32_t> rows;

  explicit SentenceRows(const Packing& packing);
};

/// Lengths with </s> counted.
std::vector<std::size_t> lengths_with_end(const Sentences& sentences);
/// The word of each packed row; </s> for rows beyond a sentence's last word.
std::vector<WordId> pack_words(const Packing& packing, const Sentences& sentences);

/// to rows(t) = from rows(t - 1), the first step 0: what a decoder step knows of the word before.
template <class Real>
void shift_forward(const Packing& packing, ConstMatrixView<Real> from, MatrixView<Real> to);
/// Its backward: from_gradient rows(t - 1) += to_gradient rows(t).
template <class Real>
void shift_backward(const Packing& packing, ConstMatrixView<Real> to_gradient, MatrixView<Real> from_gradient);

}  // namespace rnnsearch::layers

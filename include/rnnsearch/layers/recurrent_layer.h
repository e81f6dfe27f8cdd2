// A recurrent layer of an encoder over a packed batch, in one direction, with any cell and x_t = input_t W_in + b. The
// state is 0 before the first word that is read. X words in the batch, D distinct rows of the input, I input width, n
// output width, S state width (cell.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/layers/cell.h"
#include "rnnsearch/layers/embedding.h"

namespace rnnsearch::layers {

/// Packed, time-major batches without padding.
///
/// Sentences are sorted by falling length. Step t is a block of rows for the active[t] sentences that have a word at t,
/// and the blocks of all steps form one matrix [words, width]. Row first_row[t] + p is sentence p (in packed order) at
/// step t. B sentences, T steps.
struct Packing {
  /// [B] order[p] is the caller's index of packed sentence p. Sentences of equal length keep their order.
  std::vector<std::uint32_t> order;
  std::vector<std::size_t> active;     // [T] number of sentences at each step; non-increasing
  std::vector<std::size_t> first_row;  // [T + 1]; the last element is the number of words

  Packing() = default;
  /// REQUIRES: every length is at least 1.
  explicit Packing(std::span<const std::size_t> lengths);

  std::size_t sentences() const { return order.size(); }
  std::size_t steps() const { return active.size(); }
  std::size_t words() const { return first_row.empty() ? 0 : first_row.back(); }
  /// The number of sentences that continue after step t.
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

  /// Calls use(row, b, t) for every row, from the first to the last: it is sentence b, in the caller's order, at step
  /// t.
  template <class Use>
  void for_each_row(const Use& use) const {
    for (std::size_t t = 0; t < steps(); ++t) {
      for (std::size_t p = 0; p < active[t]; ++p) use(first_row[t] + p, order[p], t);
    }
  }
};

/// The packed rows of each sentence: rows[offsets[b]] to rows[offsets[b + 1]] for sentence b in the caller's order.
struct SentenceRows {
  std::vector<std::size_t> offsets;  // [B + 1]
  std::vector<std::uint32_t> rows;

  explicit SentenceRows(const Packing& packing);
};

/// The lengths of the sentences including </s>.
std::vector<std::size_t> lengths_with_end(const Sentences& sentences);
/// The word of each packed row; </s> in the row after the last word of a sentence.
std::vector<WordId> pack_words(const Packing& packing, const Sentences& sentences);

/// For each row the one of `numbers` for the same sentence one step before; `none` in the rows of step 0.
std::vector<std::uint32_t> one_step_before(const Packing& packing, std::span<const std::uint32_t> numbers,
                                           std::uint32_t none);

enum class Direction { kForward, kBackward };

/// Matrices that share an input are stored as one, so that one product computes all of them.
struct RecurrentWeights {
  Matrix W_in;        // [I, width of the cell's x]: for gru W | W_z | W_r
  std::span<Real> b;  // bias of the first columns of x; empty if the cell normalises x, because LN has a bias
  CellWeights cell;
};

class RecurrentLayer {
 public:
  /// memory: for temporary matrices.
  RecurrentLayer(CellKind kind, std::size_t n, Direction direction, const RecurrentWeights& weights,
                 const RecurrentWeights& gradient, const kernels::Scratch& memory);

  std::size_t state_width() const { return state_width_; }
  /// input [X, I]; states [X, S] out, whose first n columns are the outputs; recurrent_dropout: the mask of the cell
  /// for X rows.
  void forward(const Packing& packing, const RepeatedRows& input, Matrix states,
               const kernels::DropoutMask& recurrent_dropout = {});
  /// ADDS to input_gradient [D, I]. states: the result of the forward pass. state_gradient [X, S]: the gradient of the
  /// states from the following layers; it is overwritten. frame: memory that must outlive the call of `accumulate`.
  void backward(const Packing& packing, const RepeatedRows& input, Matrix states, Matrix state_gradient,
                Matrix input_gradient, kernels::Scratch::Frame& frame);
  /// Call it after `backward`, with the same input. ADDS to the gradient of the weights.
  void accumulate(const RepeatedRows& input);

 private:
  std::size_t state_width_;
  Direction direction_;
  RecurrentWeights weights_, gradient_;
  kernels::Scratch memory_;
  std::unique_ptr<Cell> cell_;
  kernels::Buffer<Real> x_;  // [X, .]; after the forward pass what the cell keeps in it, then its gradient
  // From `backward` to `accumulate`: h' of all steps [X, S], and the gradient of x by distinct row [D, .].
  Matrix previous_, sums_;
};

}  // namespace rnnsearch::layers

// Word embeddings, E x + b_e: rows of a table, plus the bias of the released code (Bahdanau, Cho and Bengio 2015,
// appendix A.2). K words, m embedding width.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"

namespace rnnsearch::layers {

struct EmbeddingWeights {
  Matrix E;              // [K, m]
  std::span<Real> bias;  // [m] or empty
};

/// The sparse gradient of a table [K, m]. It stores only the rows of words that occur in the batch.
class RowGradient {
 public:
  RowGradient() = default;
  RowGradient(std::size_t table_rows, std::size_t cols) : cols_(cols), index_(table_rows, kNone) {}

  /// Sets all rows to 0.
  void clear();
  /// Row words[i] += gradient row i, in the order of i.
  void add(std::span<const WordId> words, ConstMatrix gradient);

  std::size_t table_rows() const { return index_.size(); }
  std::size_t cols() const { return cols_; }
  /// The words with a gradient, each once, in the order of their first use, and their gradients [words.size(), m].
  std::span<const WordId> words() const { return words_; }
  ConstMatrix rows() const { return {rows_.data(), words_.size(), cols_}; }
  /// The gradient of a word's row, [m], or null if the batch has none.
  const Real* row_of(WordId word) const {
    return index_[word] == kNone ? nullptr : rows_.data() + std::size_t{index_[word]} * cols_;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::size_t cols_ = 0;
  std::vector<std::uint32_t> index_;  // for each row of the table its row in rows_, or kNone
  std::vector<WordId> words_;
  std::vector<Real> rows_;
  std::vector<std::uint32_t> indices_;  // rows in rows_ of the words given to `add`
};

/// The word embeddings of one side, with the place of their gradient: rows of the words that occur, or the whole table
/// where it is also used elsewhere.
struct EmbeddingTable {
  EmbeddingWeights weights{}, gradient{};
  RowGradient* rows = nullptr;  // nullptr: the gradient of the table is dense, in gradient.E

  /// output [words.size(), m] out.
  void forward(std::span<const WordId> words, Matrix output) const;
  /// ADDS to the gradient.
  void backward(std::span<const WordId> words, ConstMatrix output_gradient) const;
};

}  // namespace rnnsearch::layers

// Word embeddings, E x + b_e: rows of a table, plus the bias of the released code (Bahdanau, Cho and Bengio 2015,
// appendix A.2). K words, m embedding width.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/kernels/buffer.h"

namespace rnnsearch::layers {

struct EmbeddingWeights {
  Matrix E;              // [K, m]
  std::span<Real> bias;  // [m] or empty
};

/// The sparse gradient of a table [K, m]. It stores only the rows of words that occur in the batch or its sample.
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
/// where it is also the output matrix of a softmax over all words.
struct EmbeddingTable {
  EmbeddingWeights weights{}, gradient{};
  RowGradient* rows = nullptr;  // nullptr: the gradient of the table is dense, in gradient.E

  /// output [words.size(), m] out.
  void forward(std::span<const WordId> words, Matrix output) const;
  /// ADDS to the gradient.
  void backward(std::span<const WordId> words, ConstMatrix output_gradient) const;
};

// Products of matrices in which rows repeat, like the embeddings of a batch: half of its words, or more, occur in it
// several times. A product is made once for each distinct row, and its gradient first added up by distinct row. X rows,
// D distinct rows, I width, O width of the product.

/// The words of a batch, each once, in the order of their first use; or, with `each`, once for every row.
struct DistinctWords {
  std::vector<WordId> words;         // [D]
  std::vector<std::uint32_t> index;  // [X] where in `words` the word of each row is

  DistinctWords() = default;
  explicit DistinctWords(std::span<const WordId> of_rows);
  static DistinctWords each(std::span<const WordId> of_rows);
  /// `index`, or nothing if no word occurs twice: row i then has words[i].
  std::span<const std::uint32_t> repeats() const {
    return words.size() == index.size() ? std::span<const std::uint32_t>() : index;
  }
};

/// Row i is row index[i] of `distinct`; without `index` it is row i, for rows that are not known to repeat.
struct RepeatedRows {
  ConstMatrix distinct;                    // [D, I]
  std::span<const std::uint32_t> index{};  // [X] or empty
};

/// output [X, O] = rows W, plus b in the first b.size() columns. W [I, O]. The bits are those of the product of all
/// rows. memory: for temporary matrices.
void affine_forward(const RepeatedRows& rows, ConstMatrix W, std::span<const Real> b, Matrix output,
                    const kernels::Scratch& memory);

/// The gradient of the output, in which the rows of equal input are added up: [D, O], in the frame or output_gradient
/// itself. The gradients of the distinct rows, of W and of b are made of it as if there were no other rows.
Matrix add_repeated(const RepeatedRows& rows, Matrix output_gradient, kernels::Scratch::Frame& frame);

}  // namespace rnnsearch::layers

// Products of matrices in which rows repeat, like the embeddings of a batch: half of its words, or more, occur in it
// several times. A product is made once for each distinct row, and its gradient first added up by distinct row. X rows,
// D distinct rows, I width, O width of the product.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/kernels/scratch.h"

namespace rnnsearch::layers {

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

// The softmax over a list of words of each source sentence in place of the whole vocabulary (Jean, Cho, Memisevic and
// Bengio 2015, On using very large target vocabulary for neural machine translation, section 3.3):
//   p(y) = softmax(t W_o + b_w) over the words y of the list, and 0 for all others.
// R rows, H width of t, K vocabulary, U words of the union of some lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/top_words.h"

namespace rnnsearch::layers {

struct OutputWeights {
  Matrix W_o;           // [H, K]; empty if E is given
  std::span<Real> b_w;  // [K]
  // [K, H]; empty if W_o is given. Tied embeddings (Press and Wolf 2017; Inan, Khosravi and Socher 2017): W_o is the
  // transpose of an embedding table, W_o = E^T.
  Matrix E{};
  bool is_tied() const { return E.rows > 0; }
};

/// Copies the columns of W_o [H, K] of these words to `to` [H, U], or the rows of E [K, H] to `to` [U, H].
void gather_output(const OutputWeights& from, std::span<const WordId> words, Matrix to);

/// The output layer of the sentences that are searched together. Sentences in a row share one product with the columns
/// of the union of their lists; then each row takes the columns of its own sentence's list, in the order of the
/// vocabulary, and its softmax sums over these alone. So the bits of a row depend neither on the other sentences nor on
/// how many share a product, and a list with all words gives those of Readout::log_probabilities.
class ShortlistOutput {
 public:
  ShortlistOutput() = default;
  /// Copies what it needs of `weights`. lists: one for each sentence, ascending words of the vocabulary, at least one.
  /// together: the number of sentences that share a product, at least 1. With several rows of each sentence 1 computes
  /// least; with one row a product of a single sentence would read its columns for that row alone.
  ShortlistOutput(const OutputWeights& weights, const Sentences& lists, std::size_t together);

  /// Computes log p of every word, -infinity for those that are not in the list. Row i belongs to sentence[i], which
  /// ascend. t [R, H], log_probabilities [R, K] out.
  void log_probabilities(ConstMatrix t, std::span<const std::uint32_t> sentence, Matrix log_probabilities);
  /// Only the most probable words, with the same bits. top.look_up reads this object until its next call.
  void top_words(ConstMatrix t, std::span<const std::uint32_t> sentence, kernels::TopWords& top);

 private:
  // Calls use(i, list, log_probabilities of the list) for each row, on all threads.
  template <class Use>
  void for_each_row(ConstMatrix t, std::span<const std::uint32_t> sentence, const Use& use);

  std::size_t together_ = 1, vocabulary_ = 0;
  Sentences lists_;
  std::vector<std::uint32_t> columns_;         // of the words of lists_, in the product of their group
  std::vector<Real> bias_;                     // of the words of lists_
  std::vector<kernels::PackedMatrix> unions_;  // [H, U] of each group of `together_` sentences
  kernels::Buffer<Real> logits_, scores_;      // scores_: [R, words of the longest list] of the last call
};

/// The lists of the rows of a step; none if there is no output.
struct ShortlistRows {
  ShortlistOutput* output = nullptr;
  std::span<const std::uint32_t> sentence{};  // [R], ascending
};

}  // namespace rnnsearch::layers

// The readout: from the inputs x of a step to the distribution of the next word, p(y) = softmax(t W_o + b_w). The
// vector t is made by a deep output layer (Pascanu et al. 2014):
//   maxout  t = maxout over pairs of x W + b       W [I, 2l], t [l]    (Bahdanau, Cho and Bengio 2015, appendix A.2.2)
//   tanh    t = tanh(x W + b)                      W [I, n], t [n]     (Luong, Pham and Manning 2015, equation 5)
//   linear  t = x
//   linear  t = x W + b                            W [I, m], t [m]     with such weights (its output is fed back)
//   mlp     t = max(x W + b, 0) W_2 + b_2          W [I, m/2], t [m]
// With W_o_left it is softmax(t W_o_left W_o + b_w): W_o in two factors, as in the released code. In training the
// logits of all rows are never in memory at the same time: blocks of rows go through product, softmax, loss and
// gradient in turn, so memory does not grow with the batch.
// R rows of a step, I input width, H width of t, K vocabulary.
#pragma once

#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/dropout.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/layers/embedding.h"
#include "rnnsearch/layers/kinds.h"
#include "rnnsearch/layers/shortlist_output.h"

namespace rnnsearch::layers {

struct ReadoutWeights {
  Matrix W;  // U_o, V_o and C_o one below the other, as far as x has these parts
  std::span<Real> b;
  Matrix W_2;
  std::span<Real> b_2;
  Matrix W_o_left;  // [H, rank] or empty
  OutputWeights output;
};

/// x [R, I] as blocks of columns, which may lie anywhere. Each block is a product of its own with its rows of W, so no
/// copy is needed. In bf16 the division into blocks is part of the bits.
using ReadoutInput = std::vector<ConstMatrix>;

struct ReadoutLoss {
  std::span<const WordId> target;  // [rows]
  std::span<double> loss;          // [rows] out, not smoothed
  double label_smoothing = 0;      // the gradient is that of the smoothed cross entropy (kernels/softmax.h)
  std::span<const Real> weight{};  // [rows], by which the gradients of the losses are multiplied, or empty
  /// The words over which the softmax sums, ascending, all targets among them; empty: all words of the vocabulary.
  std::span<const WordId> sample{};
};

/// Stores the results of its forward pass that its backward pass needs, by row, like a Cell.
class Readout {
 public:
  /// memory: for temporary matrices. rows: of the gradient of an embedding table that is the output matrix, for a
  /// readout of which every loss has a sample; nullptr: the gradient is dense.
  Readout(ReadoutKind kind, const ReadoutWeights& weights, const ReadoutWeights& gradient,
          const kernels::Scratch& memory, RowGradient* rows = nullptr);

  /// Call it before the steps of a pass over `rows` rows. frame: memory that must outlive the pass, backward included.
  /// dropout: of t, the mask of all rows. packed: the pass has many steps, for which the matrices are packed; call
  /// `pack` before it whenever weights have changed.
  void begin(std::size_t rows, kernels::Scratch::Frame& frame, const kernels::DropoutMask& dropout = {},
             bool packed = false);
  /// Computes t of R rows from `first` on.
  void forward(std::size_t first, const ReadoutInput& input);
  /// [rows, H] t, after dropout if there is any.
  Matrix vector() const { return dropout_.drops() ? dropped_ : t_; }

  /// loss[i] = -log p(target[i]) of all rows.
  void loss(std::span<const WordId> target, std::span<double> loss);
  /// Computes the same losses and the gradient of their sum: ADDS to that of W_o_left, W_o and b_w, and writes
  /// vector_gradient(); `vector` is not valid afterwards. frame: as for `begin`.
  void loss_and_backward(const ReadoutLoss& args, kernels::Scratch::Frame& frame);
  /// [rows, H]. A caller that feeds t back may add to it before `backward`.
  Matrix vector_gradient() const { return t_gradient_; }
  /// input_gradient [R, I] out; overwrites vector_gradient().
  void backward(std::size_t first, Matrix input_gradient);
  /// Call it after the steps, with the input of all rows. ADDS to the gradient of the other weights.
  void accumulate(const ReadoutInput& input);

  /// Packs the matrices for the steps that follow, each when a step needs it.
  void pack();
  /// The output of a search whose softmax is over these lists, for the functions below.
  ShortlistOutput shortlist(const Sentences& lists, std::size_t together) const {
    return {weights_.output, lists, together};
  }
  /// log p of every word for all rows, [rows, K] out.
  void log_probabilities(Matrix log_probabilities, const ShortlistRows& lists = {});
  /// The most probable words of all rows, with the same bits (kernels/top_words.h). Until the next call top.look_up may
  /// be called.
  void top_words(kernels::TopWords& top, const ShortlistRows& lists = {});
  /// log p of every word for these rows of the last call of `top_words`, [row.size(), K] out. lists: of all its rows.
  void log_probabilities(std::span<const std::uint32_t> row, Matrix log_probabilities, const ShortlistRows& lists = {});

 private:
  bool joins() const { return weights_.W.cols == 0; }  // t = x
  void times(ConstMatrix a, ConstMatrix W, kernels::PackedMatrix& packed, Matrix c, kernels::Into into) const;
  void times_transposed(ConstMatrix a, ConstMatrix W, const kernels::PackedMatrix& packed, Matrix c) const;
  Matrix output_input();
  const kernels::PackedMatrix& packed_output();
  void all_log_probabilities(ConstMatrix last, const ShortlistRows& lists, Matrix log_probabilities);
  template <class Use>
  void for_logits(ConstMatrix last, const OutputWeights& output, const Use& use);

  ReadoutKind kind_;
  ReadoutWeights weights_, gradient_;
  kernels::Scratch memory_;
  RowGradient* rows_;
  kernels::PackedMatrix packed_W_o_;  // for many calls, until `pack`
  kernels::DropoutMask dropout_;
  Matrix sums_, t_, dropped_, factor_, sums_gradient_, t_gradient_;
  bool uses_packed_ = false;
  kernels::Buffer<Real> top_input_, gathered_;   // rows of output_input() of the last call of `top_words`
  std::vector<kernels::PackedMatrix> packed_W_;  // for each block of x; `forward` packs them
  kernels::PackedMatrix packed_W_2_, W_transposed_, W_2_transposed_;
};

}  // namespace rnnsearch::layers

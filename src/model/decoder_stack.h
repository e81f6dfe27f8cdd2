// The recurrent layers of the decoder: x = input W_in + b of each layer, its cell, and the dropout between layers. The
// input of the first layer is [word | others]: the word and a fixed context are known before the steps, and are
// multiplied there, each distinct word and each sentence's context once. The other blocks of columns are multiplied at
// every step. Y rows of all steps, R of one step, B sentences, D distinct words, n output width, S whole state of a
// layer.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/dropout.h"
#include "model/weights.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/layers/cell.h"
#include "rnnsearch/layers/repeated_rows.h"

namespace rnnsearch::model {

class DecoderStack {
 public:
  /// Blocks of columns of the first layer's input, in the order of their rows in W_in.
  using Blocks = std::vector<ConstMatrix>;

  DecoderStack(const ModelOptions& options, const std::vector<layers::RecurrentWeights>& weights,
               const std::vector<layers::RecurrentWeights>& gradient, const Dropout& dropout,
               const kernels::Scratch& scratch);

  /// Packs the weights into memory of `frame`, which must outlive the steps. Call it before the steps whenever weights
  /// have changed or begin_backward was called.
  void pack(kernels::Scratch::Frame& frame);
  /// Call it before the steps of a pass over Y rows; no step has more than `widest` rows. frame: memory that must
  /// outlive the steps.
  void begin(std::size_t Y, std::size_t widest, kernels::Scratch::Frame& frame);

  /// [R, n] outputs of the last layer in s_{i-1} and s_i, in R rows from `first` on.
  Matrix previous(std::size_t first, std::size_t R) const { return top(layers_.back().previous, first, R); }
  /// s_i stays until the next step if the readout reads s_{i-1}, otherwise until the next pass.
  Matrix current(std::size_t first, std::size_t R) const {
    return top(layers_.back().current, keeps_current_ ? first : 0, R);
  }

  /// states [R, layers * S]: s_{i-1} of the first R rows, where sentence k of the rows is
  /// sentence order[k], or k without an order.
  void load(ConstMatrix states, std::span<const std::uint32_t> order = {});
  void store(Matrix states) const;
  /// s_i becomes the previous state of the step after t.
  void carry(const layers::Packing& packing, std::size_t t);

  /// Multiplies what is known before the steps. words [Y, word]: ignored if the word is not known. contexts: the fixed
  /// context, if it is an input; row i of every step reads row i. frame: as for `begin`.
  void project_words(const layers::RepeatedRows& words, ConstMatrix contexts, kernels::Scratch::Frame& frame);
  /// s_i of R rows from `first` on, of which the first `needed` are needed. others: the other blocks, [R, .].
  void update(std::size_t first, std::size_t R, std::size_t needed, const Blocks& others);

  /// Call it before the steps of the backward pass, with frame as for `begin` until `accumulate`.
  void begin_backward(kernels::Scratch::Frame& frame);
  /// Call it before each of these steps, which has R rows: the gradient of s_i is what the following step, of
  /// `continuing` rows, left as that of s_{i-1}.
  void begin_step_backward(std::size_t R, std::size_t continuing);
  /// [R, n] the gradients of the outputs of the last layer in this step, to which others may add.
  Matrix previous_gradient() const { return top(layers_.back().previous_gradient, 0, rows_); }
  Matrix current_gradient() const { return top(layers_.back().current_gradient, 0, rows_); }
  /// [at least R, .] the gradient of the other blocks, from update_backward until that of another step.
  Matrix others_gradient() const { return layers_[0].input_gradient.view(); }
  void update_backward(std::size_t first, std::size_t needed);
  /// Call it after the steps. ADDS to the gradient of the weights. words, contexts: of `project_words`. others: the
  /// blocks of all Y rows. words_gradient [D, word] out. contexts_gradient [B, .] ADDS, of the fixed context over all
  /// steps.
  void accumulate(const layers::RepeatedRows& words, ConstMatrix contexts, const Blocks& others,
                  const layers::Packing& packing, Matrix words_gradient, Matrix contexts_gradient,
                  kernels::Scratch::Frame& frame);
  /// [B, S] of every layer, after the last step of the backward pass: the gradient of s_0.
  std::vector<Matrix> initial_gradients() const;

 private:
  using Buffer = kernels::Buffer<Real>;
  struct Layer {
    std::unique_ptr<layers::Cell> cell;
    std::size_t known, inputs;                // rows of W_in: of the word, and of the blocks after it
    std::vector<kernels::PackedMatrix> W_in;  // each of these blocks; in the backward pass all, transposed
    Buffer input;                             // [Y, n] of layers above the first
    Buffer x;                                 // [Y, .]; after the backward pass its gradient
    Buffer previous, current;                 // [Y, S] s_{i-1}, s_i
    // Of one step of the backward pass, in their first R rows. The inputs are those that a step multiplies.
    Buffer input_gradient, previous_gradient, current_gradient;  // [widest, .]
  };

  Matrix top(const Buffer& states, std::size_t first, std::size_t R) const {
    return states.view().row_range(first, R).columns(0, options_.state);
  }

  const ModelOptions& options_;
  const std::vector<layers::RecurrentWeights> weights_, gradient_;
  const Dropout& dropout_;
  kernels::Scratch scratch_;
  const Widths widths_;
  const bool keeps_current_;
  std::vector<std::size_t> others_;    // the widths of the other blocks
  std::size_t widest_ = 0, rows_ = 0;  // rows_: R of the step that goes back
  std::vector<Layer> layers_;
  kernels::PackedMatrix W_word_, W_contexts_;
  Matrix of_contexts_;  // [B, .] the product of the fixed contexts
};

}  // namespace rnnsearch::model

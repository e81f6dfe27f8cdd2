// What a Model is made of: the parameters, and the encoder, the decoder and the readout that compute with them.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/dropout.h"
#include "model/weights.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/layers/cell.h"
#include "rnnsearch/layers/embedding.h"
#include "rnnsearch/layers/readout.h"
#include "rnnsearch/layers/recurrent_layer.h"
#include "rnnsearch/layers/soft_attention.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::model {

// The encoder: from the source words to the annotations h_j of the attention, or to the ends of the sentences that a
// fixed context is made of. It keeps no states that the annotations hold, and looks the words up again in the backward
// pass. B sentences, X source words in the batch, e state width of each direction, S whole state of a layer in one
// direction.

/// A batch of source sentences in two orders: packed for the encoder, and sentence by sentence for the attention of the
/// decoder.
struct SourceRows {
  layers::Packing packing;
  std::vector<WordId> words;               // the words of the packed rows
  std::vector<std::uint32_t> packed_row;   // [words] the packed row of each sentence-by-sentence row
  std::vector<std::uint32_t> encoded_row;  // [words] the inverse of packed_row
  // [B] packed rows of the first and the last word that the encoder reads, by the caller's sentence
  std::vector<std::uint32_t> first_word_row, last_word_row;

  /// Computes the members. Packed rows are in the order in which the encoder reads, sentence-by-sentence rows in that
  /// of the sentence; the two differ with options.reverse_source. With options.source_start, packed_row and encoded_row
  /// are empty, because only attention uses them, and attention does not read <s>. offsets: out, [B + 1], the first row
  /// of each sentence in sentence-by-sentence order; <s> is not counted.
  void lay_out(const Sentences& source, const ModelOptions& options, std::vector<std::size_t>& offsets);
};

/// The gradients that reach the encoder. An empty matrix: nothing does.
struct EncoderGradients {
  Matrix annotations;         // [X, annotation width], sentence by sentence
  Matrix ends;                // [B, annotation width], of SourceEncoder::ends()
  std::vector<Matrix> first;  // for each layer: of the first columns of SourceEncoder::first
};

/// Functions that the backward pass calls on its way, unless they are empty.
struct EncoderProgress {
  /// The gradient of the embeddings is complete, that of the lowest layer's weights is not.
  std::function<void()> words;
  /// The weights of the forward direction have theirs, too. It is called only if there are two.
  std::function<void()> first_direction;
};

class SourceEncoder {
 public:
  /// memory: for temporary matrices.
  SourceEncoder(const ModelOptions& options, const EncoderWeights& weights, const EncoderWeights& gradient,
                const layers::EmbeddingTable& words, Dropout& dropout, const kernels::Scratch& memory);

  /// The rows of the last batch.
  const SourceRows& rows() const { return rows_; }
  /// The number of embeddings that were multiplied, each distinct word's once.
  std::size_t embeddings() const { return distinct_.words.size(); }
  /// Fills encoded.offsets and, with attention, encoded.annotations.
  void forward(const Sentences& source, Encoded& encoded, PhaseTimes& phases);
  /// [B, annotation width] the last outputs of both directions, where a fixed context needs them: of the forward one at
  /// the last word, of the backward one at the first word.
  Matrix ends() const { return ends_.view(); }
  /// [B, S] the state of layer k from which the initial state of the decoder's layer k is made: the backward state at
  /// the first word, or the forward state at the last one.
  Matrix first(std::size_t k) const { return layers_[k].first.view(); }

  /// ADDS to the gradient of the weights and embeddings. encoded: of the forward pass.
  void backward(const Encoded& encoded, const EncoderGradients& gradients, PhaseTimes& phases,
                const EncoderProgress& progress);

 private:
  struct Layer {
    std::array<std::unique_ptr<layers::RecurrentLayer>, 2> directions;
    std::array<kernels::Buffer<Real>, 2> states;  // [X, S], unless the annotations hold them
    kernels::Buffer<Real> output;                 // [X, annotation width] the input of the layer above
    kernels::Buffer<Real> first;
  };

  std::size_t directions() const { return options_.bidirectional() ? 2 : 1; }
  bool is_top(std::size_t k) const { return k + 1 == layers_.size(); }
  bool holds_states(std::size_t k) const;
  std::size_t first_direction() const;
  /// The row of each sentence at which a direction ends.
  const std::vector<std::uint32_t>& last_rows(std::size_t direction) const {
    return direction == 1 ? rows_.first_word_row : rows_.last_word_row;
  }
  /// The input of the lowest layer.
  layers::RepeatedRows embedded(kernels::Scratch::Frame& frame) const;

  const ModelOptions& options_;
  layers::EmbeddingTable words_;
  Dropout& dropout_;
  kernels::Scratch memory_;
  std::vector<Layer> layers_;
  SourceRows rows_;
  layers::DistinctWords distinct_;  // the words of the batch
  kernels::Buffer<Real> ends_;
};

/// What the decoder begins from: the fixed context c of a model without attention, and the states s_0 of its layers.
/// Both are made of states of the encoder. B sentences, n state width, S whole state of a decoder layer, Y target
/// words.
class InitialStates {
 public:
  InitialStates(const ModelOptions& options, const InitialStateWeights& weights, const InitialStateWeights& gradient);

  /// Fills encoded.contexts and encoded.initial_states. encoder: after its forward pass.
  void forward(const SourceEncoder& encoder, Encoded& encoded) const;

  /// ADDS to the gradient of the weights, and returns the gradients that reach the encoder, in memory of `frame`.
  /// states: for each layer the gradient of s_0, [at least B, S], whose first B rows are the sentences in packed order.
  /// contexts: as SourceGradients::contexts.
  EncoderGradients backward(const SourceEncoder& encoder, const Encoded& encoded, const layers::Packing& target,
                            const std::vector<Matrix>& states, ConstMatrix contexts,
                            kernels::Scratch::Frame& frame) const;

 private:
  bool projects() const { return options_.initial_state == InitialState::kProjected; }
  bool has_summary() const { return weights_.summary.W.cols > 0; }
  ConstMatrix projected(const SourceEncoder& encoder, const Encoded& encoded, std::size_t k) const;

  const ModelOptions& options_;
  InitialStateWeights weights_, gradient_;
  std::size_t state_width_;
};

// The decoder: the chain of states s_1 ... s_Ty, each made of the one before it, of a word and of a context c_i. It is
// composed of small layers, as the options say.
//
// A step has one of two orders. If the readout reads s_{i-1} (Bahdanau, Cho and Bengio 2015): attend, read out y_i,
// then update the state. If it reads s_i: update the state, attend before or after that, and read out y_i; the vector
// of the readout can then be an input of the next step.
//
// dropout.h documents which units are dropped while a gradient is computed.
//
// B sentences, X source words, Y target words, R rows of a step, S whole state of a layer, C width of c_i, H width of
// the readout's vector, D words that are embedded, m embedding width.

/// The target sentences of a batch, packed.
struct TargetRows {
  layers::Packing packing;
  std::vector<WordId> words;  // [Y] y_i
};

/// The gradients that leave the decoder towards the source.
struct SourceGradients {
  Matrix annotations;          // with attention: [X, C] ADDS, sentence by sentence
  Matrix keys;                 // with attention: [X, A] ADDS
  std::vector<Matrix> states;  // out: for each layer that of s_0, [B, S] in packed order
  Matrix contexts;             // out: [Y, C]; that of the context of a sentence is the sum of its rows
  ConstMatrix guide{};         // in: [Y, longest source] as in kernels::ScoredAttentionBackward, or empty
};

/// What a decoder is made of. The references must outlive it.
struct DecoderInputs {
  const ModelOptions& options;
  const Weights& weights;
  const Weights& gradient;
  layers::EmbeddingTable words;  // of the target
  layers::Readout& readout;      // which the decoder runs if its vector is fed back
  const Dropout& dropout;
  kernels::Scratch scratch;  // for temporary matrices
  PhaseTimes& phases;
};

/// The recurrent layers of the decoder: x = input W_in + b of each layer, its cell, and the dropout between layers. The
/// input of the first layer is [word | others]: the word and a fixed context are known before the steps, and are
/// multiplied there, each distinct word and each sentence's context once. The other blocks of columns are multiplied at
/// every step. Y rows of all steps, R of one step, B sentences, D distinct words, n output width, S whole state of a
/// layer.
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

class Decoder : private DecoderInputs {
 public:
  explicit Decoder(const DecoderInputs& parts);

  /// Computes the keys of the attention from encoded.annotations.
  void make_keys(Encoded& encoded);

  /// All steps of a batch. A decoder that feeds the vector of the readout back runs the readout, too, which must have
  /// begun.
  void forward(const Encoded& encoded, const TargetRows& target);
  /// The number of embeddings that the cell multiplied in `forward`.
  std::size_t embeddings() const;
  /// The input of the readout after `forward` [Y, I], and after `predict` [R, I].
  layers::ReadoutInput for_readout() const { return readout_input(0, positions_.size()); }
  /// ADDS to the gradient of the weights, target embeddings included, except what keys_backward does. inputs: [Y, I]
  /// the gradient of for_readout(), overwritten; a decoder that runs the readout computes it here.
  void backward(const Encoded& encoded, const TargetRows& target, Matrix inputs, SourceGradients& gradients);
  /// Propagates the gradient of the keys to the annotations. ADDS.
  void keys_backward(const Encoded& encoded, const SourceGradients& gradients);

  /// alpha_ij and c_i of the last batch, by row; without columns if the model has none.
  ConstMatrix alpha() const { return attention_ ? attention_->alpha() : ConstMatrix(); }
  ConstMatrix contexts() const { return context_.view(); }

  // The steps of a search, with the contracts of Model. There is at least one row.
  /// Fills state.fed. pack: the steps pack the matrices anew; otherwise those of the last search are still right.
  void start(SearchState& state, bool pack);
  /// alpha: out, or empty. frame: memory until for_readout() has been read.
  void predict(const Encoded& encoded, SearchState& state, Matrix alpha, kernels::Scratch::Frame& frame);
  /// Computes s_i, if `predict` has not.
  void advance(SearchState& state);

 private:
  using Frame = kernels::Scratch::Frame;
  using Blocks = DecoderStack::Blocks;

  /// The words that the rows read: each distinct one once, unless dropout makes a word differ from row to row.
  struct WordRows {
    layers::DistinctWords distinct;
    std::size_t zeros = 0;           // the number of words, at the beginning, whose embedding is 0 by definition
    std::uint32_t later = 0;         // by how many time steps they come after the words y_{i-1} of the rows
    kernels::Buffer<Real> embedded;  // [D, m]
    layers::RepeatedRows rows() const { return {embedded.view(), distinct.repeats()}; }
  };

  /// Whether the embedding of <s> is fed to the first step.
  bool feeds_start() const { return options.feeds_output() && options.start == Start::kEmbedded; }
  bool feeds_words() const { return options.feedback == Feedback::kOutput; }  // the vector takes the word's place
  bool attends_from_current() const { return options.attend_from == Step::kCurrent; }
  bool reads_current_word() const {
    return widths_.state_word > 0 && options.state_word == Step::kCurrent && !feeds_words() && !options.updates_first();
  }

  void pack(Frame& frame);
  void begin_rows(std::size_t Y, std::size_t widest, Frame& frame);
  void begin_step(const SearchState& state, Frame& frame);
  /// The whole step of R rows from `first` on, except for the update of the state if the readout comes first. The
  /// previous state is in the stack, and what is fed in fed_.
  void step(std::size_t first, std::size_t R, const kernels::AttentionMemory& memory,
            std::span<const std::uint32_t> sentence, PhaseTimes::Scope& scope);
  void step_backward(const layers::Packing& packing, std::size_t t, const kernels::AttentionMemory& memory,
                     Matrix inputs, SourceGradients& gradients);
  kernels::AttentionMemory memory_of(const Encoded& encoded) const;

  void embed(std::vector<WordId> of_rows, std::uint32_t later, WordRows& to);
  void embed_previous(std::vector<WordId> of_rows);
  void embed_previous_of(const SearchState& state);
  void drop(const WordRows& from, Matrix embedded) const;
  void embedding_backward(const WordRows& from, Matrix embedded) const;
  void start_backward(std::size_t B, Matrix inputs);
  const WordRows& state_words() const { return reads_current_word() ? current_ : previous_; }

  Matrix first_fed(std::size_t B);
  void feed_backward(std::size_t first, Matrix inputs, Matrix fed) const;

  /// The inputs of R rows from `first` on: of the state, those that a step multiplies and, of B rows, the fixed
  /// context.
  Blocks state_inputs(std::size_t first, std::size_t R) const;
  ConstMatrix state_contexts(std::size_t B) const;
  layers::ReadoutInput readout_input(std::size_t first, std::size_t R) const;
  /// Column blocks of the gradient of the readout's input.
  Matrix of_state(Matrix inputs) const { return inputs.columns(0, widths_.readout_state); }
  Matrix of_word(Matrix inputs) const { return inputs.columns(widths_.readout_state, widths_.readout_word); }
  Matrix of_context(Matrix inputs) const {
    return inputs.columns(widths_.readout_state + widths_.readout_word, widths_.readout_context);
  }

  const Widths widths_;
  DecoderStack stack_;
  std::unique_ptr<layers::SoftAttention> attention_;
  kernels::Scratch packed_memory_;
  std::optional<Frame> packed_;  // holds the matrices, packed for the steps of a search

  WordRows previous_, current_;           // y_{i-1}, y_i
  std::vector<std::uint32_t> positions_;  // [Y] number of words written before
  kernels::Buffer<Real> previous_rows_;   // [Y, m] the embedding of y_{i-1}, if previous_ does not hold it by row
  kernels::Buffer<Real> context_, context_gradient_;  // [Y, C]
  kernels::Buffer<Real> fed_;                         // [Y, H] the vector of the readout that each step reads
  kernels::Buffer<Real> fed_first_;  // [B, H] that of the first step; in the backward pass its gradient
};

struct Model::Impl {
  Impl(const ModelOptions& options, bool sampled);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::span<Real> parameters() const { return {parameter_block.view().data, layout.size}; }
  std::span<Real> gradients() const { return {gradient_block.view().data, layout.dense}; }
  void encode(const Sentences& source, Encoded& encoded);
  /// Computes `target` and the `losses` of its rows. There is at least one sentence.
  void forward(const Sentences& source, const Sentences& target_sentences);
  /// The same, and ADDS to the gradient (of the smoothed cross entropy) and finishes all parts.
  void forward_and_backward(const Sentences& source, const Sentences& target_sentences, const GradientOptions& how);
  /// Packs the target sentences and runs the decoder over the batch, which has been encoded.
  void run_decoder(const Sentences& target_sentences, kernels::Scratch::Frame& frame);
  /// Computes alignment_cost of the batch that the decoder has run, and the matrix for SourceGradients::guide.
  ConstMatrix guide(const GradientOptions& how, const Sentences& target_sentences, kernels::Scratch::Frame& frame);
  /// The weight of the pair of each row of `target`, from those of the pairs; empty if these are.
  std::vector<Real> row_weights(std::span<const float> pair_weights) const;

  const ModelOptions options;
  const ParameterLayout layout;
  kernels::Buffer<Real> parameter_block, gradient_block;
  const Widths widths;
  const Weights weights, gradient;
  std::vector<TableGradient> tables;  // see Model::table_gradients
  // The gradient of the words of a side, if it becomes final on its own; see also weights.parts.
  GradientPart source_words, target_words;
  PhaseTimes phases;
  bool parameters_are_fixed = false;             // see Model::fix_parameters
  bool gradient_is_zeroed = false;               // a model that only translates leaves its memory untouched
  std::optional<kernels::Precision> packed_for;  // since the parameters are fixed

  kernels::Scratch scratch;  // the passes run one after the other, so they share temporary memory
  Dropout dropout;
  SourceEncoder encoder;
  InitialStates initial_states;
  layers::Readout readout;
  Decoder decoder;

  std::vector<GradientPart> parts;  // see Model::gradient_parts

  Encoded batch;  // the batch that is scored or trained on
  TargetRows target;
  std::vector<double> losses;  // of the rows of target
  double alignment_cost = 0;   // Loss::alignment of the last gradient
  BatchSize batch_size;        // see Model::last_batch
};

/// Throws Error for a word that is not in the vocabulary. side: "source" or "target", for the message.
void check_words(const Sentences& sentences, std::size_t vocabulary, const char* side);

}  // namespace rnnsearch::model

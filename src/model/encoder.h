// The encoder: from the source words to the annotations h_j of the attention, or to the ends of the sentences that a
// fixed context is made of. It keeps no states that the annotations hold, and looks the words up again in the backward
// pass. B sentences, X source words in the batch, e state width of each direction, S whole state of a layer in one
// direction.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "model/dropout.h"
#include "model/weights.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/layers/embedding.h"
#include "rnnsearch/layers/recurrent_layer.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::model {

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
/// Both are made of states of the encoder. B sentences, n state width, S whole state of a decoder layer, Y target words.
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

}  // namespace rnnsearch::model

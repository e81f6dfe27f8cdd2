// What a Model is made of: the parameters, and the encoder, the decoder and the readout that compute with them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/decoder.h"
#include "model/encoder.h"
#include "model/weights.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/layers/readout.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::model {

struct Model::Impl {
  explicit Impl(const ModelOptions& options);
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

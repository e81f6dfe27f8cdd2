// What the decoder begins from: the fixed context c of a model without attention, and the states s_0 of its layers.
// Both are made of states of the encoder. B sentences, n state width, S whole state of a decoder layer, Y target words.
#pragma once

#include <vector>

#include "model/encoder.h"
#include "model/weights.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::model {

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

// What the decoder begins from: the fixed context c of a model without attention, and the states s_0 of its layers.
// Both are made of states of the encoder. B sentences, n state width, S whole state of a decoder layer, Y target words.
#pragma once

#include <vector>

#include "model/encoder.h"
#include "model/tanh_layer.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::model {

template <class Real>
class InitialStates {
 public:
  InitialStates(const ModelOptions& options, const InitialStateWeights<Real>& weights,
                const InitialStateWeights<Real>& gradient);

  /// Fills encoded.contexts and encoded.initial_states. encoder: after its forward pass.
  void forward(const SourceEncoder<Real>& encoder, Encoded<Real>& encoded) const;

  /// ADDS to the gradient of the weights, and returns the gradients that reach the encoder, in memory of `frame`.
  /// states: for each layer the gradient of s_0, [at least B, S], whose first B rows are the sentences in packed order.
  /// contexts: as SourceGradients::contexts.
  EncoderGradients<Real> backward(const SourceEncoder<Real>& encoder, const Encoded<Real>& encoded,
                                  const layers::Packing& target, const std::vector<MatrixView<Real>>& states,
                                  ConstMatrixView<Real> contexts, kernels::Scratch::Frame& frame) const;

 private:
  bool projects() const { return options_.initial_state == InitialState::kProjected; }
  bool has_summary() const { return weights_.summary.W.cols > 0; }
  ConstMatrixView<Real> projected(const SourceEncoder<Real>& encoder, const Encoded<Real>& encoded,
                                  std::size_t k) const;

  const ModelOptions& options_;
  InitialStateWeights<Real> weights_, gradient_;
  std::size_t state_width_;
};

}  // namespace rnnsearch::model

// Where each layer's weights lie in the parameter block, and what they are called in a checkpoint.
#pragma once

#include <span>

#include "rnnsearch/layers/decoder.h"
#include "rnnsearch/layers/embedding.h"
#include "rnnsearch/layers/gated_recurrence.h"
#include "rnnsearch/layers/readout.h"
#include "rnnsearch/model/options.h"
#include "rnnsearch/model/parameters.h"

namespace rnnsearch::model {

/// y = tanh(x W + b): the decoder's first state, and the summary of the source in Cho et al. (2014).
template <class Real>
struct TanhWeights {
  MatrixView<Real> W;
  std::span<Real> b;
};

template <class Real>
struct Weights {
  layers::EmbeddingWeights<Real> source_embedding, target_embedding;
  layers::GatedWeights<Real> forward_encoder;
  layers::GatedWeights<Real> backward_encoder;  // with attention
  MatrixView<Real> U_a;                         // [2n, n'] with attention
  TanhWeights<Real> initial;                    // W_s [n, n], b_s
  layers::DecoderWeights<Real> decoder;
  layers::ReadoutWeights<Real> readout;
};

ParameterLayout layout_of(const ModelOptions& options);

/// Views into a block of layout_of(options).size elements; or of .dense elements: then without the embedding tables.
template <class Real>
Weights<Real> weights_in(const ModelOptions& options, std::span<Real> block);

}  // namespace rnnsearch::model

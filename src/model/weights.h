// The weights of each layer: their places in the parameter block and their names in a checkpoint.
#pragma once

#include <span>

#include "rnnsearch/layers/decoder.h"
#include "rnnsearch/layers/embedding.h"
#include "rnnsearch/layers/gated_recurrence.h"
#include "rnnsearch/layers/readout.h"
#include "rnnsearch/model/options.h"
#include "rnnsearch/model/parameters.h"

namespace rnnsearch::model {

/// The weights of tanh_layer.h.
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

/// Views into a block of layout_of(options).size elements, or of .dense elements without the embedding tables.
template <class Real>
Weights<Real> weights_in(const ModelOptions& options, std::span<Real> block);

}  // namespace rnnsearch::model

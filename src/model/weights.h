// The weights of each layer: their places in the parameter block and their names in a checkpoint.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "rnnsearch/layers/decoder.h"
#include "rnnsearch/layers/embedding.h"
#include "rnnsearch/layers/readout.h"
#include "rnnsearch/layers/recurrent_layer.h"
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
struct EncoderWeights {
  layers::EmbeddingWeights<Real> embedding;
  std::vector<std::array<layers::RecurrentWeights<Real>, 2>> layers;  // for each layer: forward, backward
};

template <class Real>
struct InitialStateWeights {
  TanhWeights<Real> summary;              // V, b_V of the tanh layer that computes the fixed context, if there is one
  std::vector<TanhWeights<Real>> layers;  // W_s, b_s for each layer, if the initial state is projected
};

template <class Real>
struct Weights {
  EncoderWeights<Real> encoder;
  layers::EmbeddingWeights<Real> target_embedding;
  MatrixView<Real> U_a;  // [2n, n'] with attention
  InitialStateWeights<Real> initial;
  layers::DecoderWeights<Real> decoder;
  layers::ReadoutWeights<Real> readout;
};

ParameterLayout layout_of(const ModelOptions& options);

/// Views into a block of layout_of(options).size elements, or of .dense elements without the embedding tables.
template <class Real>
Weights<Real> weights_in(const ModelOptions& options, std::span<Real> block);

}  // namespace rnnsearch::model

// Where the weights of a composed network lie in the parameter block, and what they are called in a checkpoint.
//
// Names are those of RNNsearch wherever the equation is the same. Layers above the first stand below "layer2/" and so
// on. A cell's gates add _z and _r (gru) or _i, _f and _o (lstm) to W, C, F, U and b; F is what the fed-back vector of
// the readout is multiplied by. With layer normalisation g and b are gain and bias of the sums of W, C and F (of all
// sums of a tanh cell), g_U and b_U those of U's, g_c and b_c those of an LSTM's c. One embedding table for both sides
// is "embedding"; readout/W_o is left out where it is a table's transpose.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "model/weights.h"
#include "rnnsearch/layers/cell.h"
#include "rnnsearch/layers/deep_output.h"
#include "rnnsearch/layers/embedding.h"
#include "rnnsearch/layers/recurrent_layer.h"
#include "rnnsearch/layers/soft_attention.h"
#include "rnnsearch/model/options.h"
#include "rnnsearch/model/parameters.h"

namespace rnnsearch::model {

/// The widths of a composed network's parts.
struct Widths {
  explicit Widths(const ModelOptions& options);

  layers::CellKind encoder_cell, decoder_cell;
  std::size_t annotation;                                    // of an encoder layer's output, and of h_j
  std::size_t context;                                       // C, 0: there is none
  std::size_t score;                                         // A, 0 without attention
  std::size_t hidden;                                        // H, of the readout's vector before the softmax
  std::size_t word;                                          // of what stands for the previous word: m, or H
  std::size_t state_word;                                    // of it in the state's input: this or 0
  std::size_t state_fed;                                     // of the fed vector there: H or 0
  std::size_t state_context;                                 // C or 0
  std::size_t readout_state, readout_word, readout_context;  // in the readout's input, each may be 0
  std::size_t cell_state;                                    // S, of one decoder layer

  std::size_t state_input() const { return state_word + state_fed + state_context; }
  std::size_t readout_input() const { return readout_state + readout_word + readout_context; }
};

template <class Real>
struct ComposedWeights {
  layers::EmbeddingWeights<Real> source_embedding, target_embedding;
  std::vector<std::array<layers::RecurrentWeights<Real>, 2>> encoder;  // layers; forward, backward
  layers::SoftAttentionWeights<Real> attention;
  TanhWeights<Real> summary;                            // V, b_V of a fixed context behind a tanh layer
  std::vector<TanhWeights<Real>> initial;               // projected: layers
  std::vector<layers::RecurrentWeights<Real>> decoder;  // layers; rows of the first: word, fed, context
  layers::DeepOutputWeights<Real> readout;              // rows: state, word, context
  MatrixView<Real> W_o_left, W_o;                       // no W_o where the embedding table of the target stands for it
  std::span<Real> b_w;
};

/// Where the parts of the gradient begin that are finished together.
struct ComposedParts {
  std::size_t decoder = 0, readout = 0;
  std::size_t table = 0;  // the one that is the output matrix too; else the end of the dense part
};

ParameterLayout composed_layout_of(const ModelOptions& options, ComposedParts* parts = nullptr);

/// As weights_in of weights.h.
template <class Real>
ComposedWeights<Real> composed_weights_in(const ModelOptions& options, std::span<Real> block);

}  // namespace rnnsearch::model

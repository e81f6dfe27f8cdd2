// The weights of a network: their places in the parameter block and their names in a checkpoint.
//
// Names are those of RNNsearch if the equation is the same. Layers above the first have the prefix "layer2/" and so on.
// The gates of a cell append _z and _r (gru) or _i, _f and _o (lstm) to W, C, F, U and b; F multiplies the vector of
// the readout that is fed back. With layer normalisation, g and b are gain and bias of the sums of W, C and F (of all
// sums in a tanh cell), g_U and b_U those of the sums of U, g_c and b_c those of the c of an LSTM. An embedding table
// for both sides is named "embedding"; there is no readout/W_o if it is the transpose of a table.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "rnnsearch/layers/cell.h"
#include "rnnsearch/layers/embedding.h"
#include "rnnsearch/layers/readout.h"
#include "rnnsearch/layers/recurrent_layer.h"
#include "rnnsearch/layers/soft_attention.h"
#include "rnnsearch/model/model.h"
#include "rnnsearch/model/options.h"

namespace rnnsearch::model {

/// The widths of the parts of a network.
struct Widths {
  explicit Widths(const ModelOptions& options);

  layers::CellKind encoder_cell, decoder_cell;
  std::size_t annotation;     // output of an encoder layer, and h_j
  std::size_t context;        // C; 0 if there is no context
  std::size_t score;          // A; 0 without attention
  std::size_t hidden;         // H, the vector of the readout before the softmax
  std::size_t word;           // the representation of the previous word: m, or H
  std::size_t state_word;     // the word in the input of the state: `word`, or 0
  std::size_t state_fed;      // the vector that is fed back, in the input of the state: H, or 0
  std::size_t state_context;  // the context in the input of the state: C, or 0
  std::size_t readout_state, readout_word, readout_context;  // parts of the input of the readout; each may be 0
  std::size_t cell_state;                                    // S of one decoder layer

  std::size_t readout_input() const { return readout_state + readout_word + readout_context; }
};

/// y = tanh(x W + b).
struct TanhWeights {
  Matrix W;
  std::span<Real> b;
};

struct EncoderWeights {
  layers::EmbeddingWeights embedding;
  std::vector<std::array<layers::RecurrentWeights, 2>> layers;  // for each layer: forward, backward
};

struct InitialStateWeights {
  TanhWeights summary;              // V, b_V of the tanh layer that computes the fixed context, if there is one
  std::vector<TanhWeights> layers;  // W_s, b_s for each layer, if the initial state is projected
};

struct Weights {
  EncoderWeights encoder;
  layers::EmbeddingWeights target_embedding;
  layers::SoftAttentionWeights attention;
  InitialStateWeights initial;
  std::vector<layers::RecurrentWeights> decoder;  // for each layer; rows of the first: word, fed, context
  layers::ReadoutWeights readout;

  /// Where they are in the parameter block, by when their gradient becomes final.
  struct Parts {
    GradientPart first_direction, encoder;  // the lowest forward layer, if there are two directions; all other layers
    GradientPart between;                   // attention and initial state
    GradientPart decoder, readout;
    GradientPart output_table;  // the table that is also the output matrix, if there is one; used if it is dense
  } parts;
};

ParameterLayout layout_of(const ModelOptions& options);

/// Views into a block of layout_of(...).size elements, or without the last embedding tables, whose views are then null.
Weights weights_in(const ModelOptions& options, std::span<Real> block);

/// Fills the block of parameters as options.initialization says:
/// - paper (GroundHog; Bahdanau, Cho and Bengio 2015, appendix B.1): square recurrent matrices U, U_z, ... are random
///   orthogonal; W_a and U_a are N(0, (deviation / 10)^2); v_a, v_p and all biases are 0; other matrices are N(0,
///   deviation^2).
/// - orthogonal: as paper, but W_a, U_a, v_a and v_p are N(0, deviation^2) like other matrices. Attention then learns
///   from the first update on; where v_a is 0, W_a and U_a have no gradient.
/// - gaussian: biases are 0, all other parameters N(0, deviation^2).
/// - xavier (Glorot and Bengio 2010): biases are 0, all other parameters uniform within sqrt(6 / (rows + cols)).
/// - pytorch (torch.nn 2: reset_parameters of Linear, Embedding, RNN, GRU and LSTM): word vectors are N(0, 1); weights
///   and biases of a Linear are uniform within 1 / sqrt(inputs), where matrices whose products are added count as one
///   Linear over their concatenated inputs; those of recurrent cells other than mlp are uniform within 1 / sqrt(state).
///   Every parameter has its own random stream, so its values do not depend on the sizes of the others.
void initialise(const ParameterLayout& layout, const ModelOptions& options, std::uint64_t seed, std::span<Real> block);

}  // namespace rnnsearch::model

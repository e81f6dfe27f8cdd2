// The decoder: the chain of states s_1 ... s_Ty, each made of the one before it, of a word and of a context c_i. There
// are two: GatedDecoder is fast and knows the equations of RNNsearch and RNNencdec alone, ComposedDecoder knows those
// of all systems. B sentences, X source words, Y target words, R rows of a search, S whole state of a layer, C width of
// c_i, H width of the readout's vector.
#pragma once

#include <vector>

#include "model/dropout.h"
#include "model/embedding_table.h"
#include "model/weights.h"
#include "rnnsearch/base/phases.h"
#include "rnnsearch/kernels/scratch.h"
#include "rnnsearch/layers/packing.h"
#include "rnnsearch/layers/readout.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::model {

/// The target sentences of a batch, packed.
struct TargetRows {
  layers::Packing packing;
  std::vector<WordId> words;  // [Y] y_i
};

/// The gradients that leave the decoder towards the source.
template <class Real>
struct SourceGradients {
  MatrixView<Real> annotations;          // with attention: [X, C] ADDS, sentence by sentence
  MatrixView<Real> keys;                 // with attention: [X, A] ADDS
  std::vector<MatrixView<Real>> states;  // out: for each layer that of s_0, in the first B rows in packed order
  MatrixView<Real> contexts;             // out: [Y, C], of c_i at every step
  ConstMatrixView<Real> guide{};         // in: [Y, longest source] as in kernels::AttentionBackward, or empty
};

/// What a decoder is made of. The references must outlive it.
template <class Real>
struct DecoderParts {
  const ModelOptions& options;
  const Weights<Real>& weights;
  const Weights<Real>& gradient;
  EmbeddingTable<Real> words;      // of the target
  layers::Readout<Real>& readout;  // which the decoder runs if its vector is fed back
  const Dropout& dropout;
  kernels::Scratch scratch;  // for temporary matrices
  PhaseTimes& phases;
};

template <class Real>
class Decoder {
 public:
  virtual ~Decoder() = default;

  /// Computes the keys of the attention from encoded.annotations.
  virtual void make_keys(Encoded<Real>& encoded) = 0;

  /// All steps of a batch. frame: memory that must outlive the backward pass. A decoder that feeds the vector of the
  /// readout back runs the readout, too, which must have begun.
  virtual void forward(const Encoded<Real>& encoded, const TargetRows& target, kernels::Scratch::Frame& frame) = 0;
  /// The number of embeddings that the cell multiplied in `forward`.
  virtual std::size_t embeddings(const TargetRows& target) const { return target.words.size(); }
  /// The input of the readout after `forward` [Y, I], and after `predict` [R, I].
  virtual layers::ReadoutInput<Real> for_readout() const = 0;
  /// ADDS to the gradient of the weights, target embeddings included, except what keys_backward does. inputs: [Y, I]
  /// the gradient of for_readout(), overwritten; a decoder that runs the readout computes it here.
  virtual void backward(const Encoded<Real>& encoded, const TargetRows& target, MatrixView<Real> inputs,
                        SourceGradients<Real>& gradients) = 0;
  /// Propagates the gradient of the keys to the annotations. ADDS.
  virtual void keys_backward(const Encoded<Real>& encoded, const SourceGradients<Real>& gradients) = 0;

  /// alpha_ij and c_i of the last batch, by row; without columns if the model has none.
  virtual ConstMatrixView<Real> alpha() const = 0;
  virtual ConstMatrixView<Real> contexts() const = 0;

  // The steps of a search, with the contracts of Model. There is at least one row.
  /// Fills state.fed, and packs the matrices for all steps, unless `pack` is false because those of the last search are
  /// still right.
  virtual void start(SearchState<Real>& state, bool pack) = 0;
  /// alpha: out, or empty. frame: memory until for_readout() has been read.
  virtual void predict(const Encoded<Real>& encoded, SearchState<Real>& state, MatrixView<Real> alpha,
                       kernels::Scratch::Frame& frame) = 0;
  /// Computes s_i, if `predict` has not.
  virtual void advance(SearchState<Real>& state) = 0;
};

}  // namespace rnnsearch::model

// The arithmetic cost of an update or a translation, to express its speed in GFLOP/s.
#pragma once

#include "rnnsearch/model/options.h"

namespace rnnsearch::model {

struct BatchSize {
  double pairs = 0;
  double source_words = 0, target_words = 0;  // including <s> and </s> where the model reads them
  /// The embeddings that are multiplied: by default those of all words; fewer where a word that the batch has several
  /// times is multiplied once.
  double source_embeddings = source_words, target_embeddings = target_words;
  double output_share = 1;  // of the target vocabulary, over which the softmax sums
  BatchSize& operator+=(const BatchSize& other);
};

/// Floating-point operations of matrix products, by the phase in which they are made (base/phases.h).
struct ProductFlop {
  double encoder = 0, decoder = 0, readout = 0;
  double total() const { return encoder + decoder + readout; }
  ProductFlop& operator+=(const ProductFlop& other);
  ProductFlop operator*(double times) const;
};

/// The number of floating-point operations in the matrix products of a forward pass, where a product [rows, inputs] by
/// [inputs, outputs] takes 2 * rows * inputs * outputs. The count follows the equations of Bahdanau, Cho and Bengio
/// (2015), appendix A: every source word passes through the encoder and every target word through one step of decoder
/// and readout. What a fixed context adds to the state is counted once for each sentence.
/// Sums, gates, energies, weighted sums of annotations, softmax and optimiser are not counted: they are few
/// operations, although they take time.
ProductFlop forward_flop(const ModelOptions& options, const BatchSize& batch);

/// Those of an update: the forward pass, and the gradients of inputs and of weights, which take the same each.
ProductFlop update_flop(const ModelOptions& options, const BatchSize& batch);

}  // namespace rnnsearch::model

// The arithmetic cost of an update, to express its speed in GFLOP/s.
#pragma once

#include "rnnsearch/model/options.h"

namespace rnnsearch::model {

struct BatchSize {
  double pairs = 0;
  double source_words = 0, target_words = 0;  // including </s> where the model reads it
};

/// Floating-point operations of one update, by the phase in which it makes them (base/phases.h).
struct UpdateFlop {
  double encoder = 0, decoder = 0, readout = 0;
  double total() const { return encoder + decoder + readout; }
};

/// The number of floating-point operations in the matrix products of one update: the forward pass, the gradients of the
/// inputs, and the gradients of the weights. A product [rows, inputs] by [inputs, outputs] takes 2 * rows * inputs *
/// outputs operations, and each of its two gradients takes the same. The count follows the equations of Bahdanau, Cho
/// and Bengio (2015), appendix A, not the implementation: every source word passes through the encoder and every target
/// word through one step of decoder and readout; a product with the fixed context of a model without attention is
/// counted once for each sentence. Sums, gates, energies, weighted sums of annotations, softmax and optimiser are not
/// counted: they are few operations, although they take time.
UpdateFlop update_flop(const ModelOptions& options, const BatchSize& batch);

}  // namespace rnnsearch::model

// How much arithmetic an update is, so that its speed can be given in GFLOP/s.
#pragma once

#include "rnnsearch/model/options.h"

namespace rnnsearch::model {

struct BatchSize {
  double pairs = 0;
  double source_words = 0, target_words = 0;  // </s> included, where it is read
};

/// Floating-point operations of the matrix products of one update: forward, gradients of the inputs, gradients of the
/// weights. A product [rows, inputs] by [inputs, outputs] is 2 rows inputs outputs of them, and so is each of its two
/// gradients. Counted is what the equations of Bahdanau, Cho and Bengio (2015), appendix A, ask for, however it is
/// computed: every source word goes through the encoder, every target word through one step of decoder and readout; a
/// product with the fixed context of a model without attention is counted once a sentence. Sums, gates, energies, the
/// weighted sums of annotations, softmax and optimiser are not counted: they are few, though they take their time.
double update_flop(const ModelOptions& options, const BatchSize& batch);

}  // namespace rnnsearch::model

// The network behind Model: the parameters, and the encoder, the decoder and the readout that compute with them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/decoder.h"
#include "model/encoder.h"
#include "model/initial_states.h"
#include "model/weights.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/layers/readout.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::model {

template <class Real>
class Network {
 public:
  using TableGradient = typename Model<Real>::TableGradient;
  using GradientPart = typename Model<Real>::GradientPart;
  using Finished = std::function<void(std::size_t part)>;

  explicit Network(const ModelOptions& chosen);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // These functions have the contracts of Model. There is at least one sentence or row.
  void encode(const Sentences& source, Encoded<Real>& encoded);
  void start(const Encoded<Real>& encoded, SearchState<Real>& state);
  void predict(const Encoded<Real>& encoded, SearchState<Real>& state, const Prediction<Real>& prediction);

  void predict_all(std::span<const std::uint32_t> row, MatrixView<Real> log_probabilities,
                   const layers::ShortlistRows<Real>& lists);
  layers::ShortlistOutput<Real> shortlist(const Sentences& lists, std::size_t together);
  void fix_parameters();

  /// Computes `target` and the `losses` of its rows.
  void forward(const Sentences& source, const Sentences& target_sentences);
  /// The same, and ADDS to the gradient (of the smoothed cross entropy) and finishes all parts.
  void forward_and_backward(const Sentences& source, const Sentences& target_sentences, const GradientOptions& how);

  std::span<Real> parameters() const { return {parameter_block.view().data, layout.size}; }
  std::span<Real> gradients() const { return {gradient_block.view().data, layout.dense}; }

  const ModelOptions options;
  const ParameterLayout layout;
  kernels::Buffer<Real> parameter_block, gradient_block;
  std::vector<TableGradient> tables;  // see Model::table_gradients
  std::vector<GradientPart> parts;    // see Model::gradient_parts
  std::size_t parts_finished = 0;     // number of final parts of the gradient that is being computed
  PhaseTimes phases;
  bool parameters_are_fixed = false;  // see Model::fix_parameters

  Encoded<Real> batch;  // the batch that is scored or trained on
  TargetRows target;
  std::vector<std::size_t> target_lengths;  // by sentence, without </s>
  std::vector<double> losses;
  double alignment_cost = 0;  // Loss::alignment of the last call of forward_and_backward
  BatchSize batch_size;       // see Model::last_batch

 private:
  /// When a part of the gradient is final, in the order of the backward pass.
  enum class Stage { kReadout, kDecoder, kSource, kSourceWords, kFirstDirection, kEncoder };

  void list_tables();
  void list_parts();
  EmbeddingTable<Real> table_of(const layers::EmbeddingWeights<Real>& table,
                                const layers::EmbeddingWeights<Real>& table_gradient, bool target_side);
  /// Reports the parts that are final after this stage.
  void finish(const Finished& finished, Stage stage);
  void run_decoder(const Sentences& target_sentences, kernels::Scratch::Frame& frame);
  /// Computes alignment_cost of the batch that the decoder has run, and the matrix for SourceGradients::guide.
  ConstMatrixView<Real> guide(const GuidedAlignment& guided, kernels::Scratch::Frame& frame);

  const Widths widths;
  const Weights<Real> weights, gradient;
  std::vector<Stage> stages;                      // of `parts`
  kernels::Scratch scratch;                       // the passes run one after the other, so they share temporary memory
  std::optional<kernels::Precision> packed_for_;  // since the parameters are fixed
  Dropout dropout;
  const EmbeddingTable<Real> source_words;
  SourceEncoder<Real> encoder;
  InitialStates<Real> initial_states;
  layers::Readout<Real> readout;

 public:
  Decoder<Real> decoder;
};

/// A matrix view of a vector in Encoded: the first function resizes the vector to the shape.
template <class Element, class Memory>
MatrixView<Element> view_of(std::vector<Element, Memory>& values, std::size_t rows, std::size_t cols) {
  values.resize(rows * cols);
  return {values.data(), rows, cols};
}

template <class Element, class Memory>
ConstMatrixView<Element> view_of(const std::vector<Element, Memory>& values, std::size_t cols) {
  return {values.data(), cols == 0 ? 0 : values.size() / cols, cols};
}

/// Throws Error for a word that is not in the vocabulary. side: "source" or "target", for the message.
void check_words(const Sentences& sentences, std::size_t vocabulary, const char* side);

}  // namespace rnnsearch::model

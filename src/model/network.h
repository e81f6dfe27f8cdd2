// The implementation behind Model: the parameters, and the interface of the networks that compute with them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/layers/packing.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::model {

template <class Real>
class Network {
 public:
  using TableGradient = typename Model<Real>::TableGradient;
  using GradientPart = typename Model<Real>::GradientPart;
  using Finished = std::function<void(std::size_t part)>;

  Network(const ModelOptions& chosen, ParameterLayout its_layout);
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // These functions have the contracts of Model. There is at least one sentence or row.
  virtual void encode(const Sentences& source, Encoded<Real>& encoded) = 0;
  /// Fills state.states and state.fed.
  virtual void start(const Encoded<Real>& encoded, SearchState<Real>& state) = 0;
  virtual void predict(const Encoded<Real>& encoded, SearchState<Real>& state, const Prediction<Real>& prediction) = 0;
  /// Computes s_i, if `predict` has not.
  virtual void advance(SearchState<Real>& state) = 0;

  /// Computes target_packing and the `losses` of its rows.
  virtual void forward(const Sentences& source, const Sentences& target) = 0;
  /// The same, and ADDS to the gradient (of the smoothed cross entropy) and finishes all parts.
  virtual void forward_and_backward(const Sentences& source, const Sentences& target, const GradientOptions& how) = 0;
  /// alpha_ij and c_i of the last batch, by row of target_packing; without columns if the model has none.
  virtual ConstMatrixView<Real> alpha() const = 0;
  virtual ConstMatrixView<Real> contexts() const = 0;

  std::span<Real> parameters() const { return {parameter_block.view().data, layout.size}; }
  std::span<Real> gradients() const { return {gradient_block.view().data, layout.dense}; }
  /// Reports that the next `count` parts of the gradient are final.
  void finish(const Finished& finished, std::size_t count);

  const ModelOptions options;
  const ParameterLayout layout;
  std::vector<TableGradient> tables;  // see Model::table_gradients
  std::vector<GradientPart> parts;    // see Model::gradient_parts; filled by the derived class
  std::size_t parts_finished = 0;     // number of final parts of the gradient that is being computed
  PhaseTimes phases;

  Encoded<Real> batch;  // the batch that is scored or trained on
  layers::Packing target_packing;
  std::vector<double> losses;
  kernels::Buffer<Real> parameter_block, gradient_block;
};

/// A matrix view of a vector in Encoded: the first function resizes the vector to the shape.
template <class Element>
MatrixView<Element> view_of(std::vector<Element>& values, std::size_t rows, std::size_t cols) {
  values.resize(rows * cols);
  return {values.data(), rows, cols};
}

template <class Element>
ConstMatrixView<Element> view_of(const std::vector<Element>& values, std::size_t cols) {
  return {values.data(), cols == 0 ? 0 : values.size() / cols, cols};
}

/// Throws Error for a word that is not in the vocabulary. side: "source" or "target", for the message.
void check_words(const Sentences& sentences, std::size_t vocabulary, const char* side);

}  // namespace rnnsearch::model

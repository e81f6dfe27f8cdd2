// The recurrent layers of a ComposedDecoder: x = input W_in + b of each layer, its cell, and the dropout between
// layers. Y rows of all steps, I input width of a layer, n state width, S whole state of a layer.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/dropout.h"
#include "model/weights.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/layers/cell.h"

namespace rnnsearch::model {

template <class Real>
class DecoderStack {
 public:
  DecoderStack(const ModelOptions& options, const std::vector<layers::RecurrentWeights<Real>>& weights,
               const std::vector<layers::RecurrentWeights<Real>>& gradient, const Dropout& dropout);

  /// Call it when weights have changed: the next `begin` packs them.
  void unpack() { packed_.reset(); }
  /// Call it before the steps of a pass over Y rows. frame: memory that must outlive the steps.
  void begin(std::size_t Y, std::size_t widest, kernels::Scratch::Frame& frame);

  /// [Y, I] the input of the first layer.
  MatrixView<Real> input() const { return layers_[0].input.view(); }
  MatrixView<Real> input_gradient() const { return layers_[0].input_gradient.view(); }
  /// [R, n] outputs of the last layer in s_{i-1} and s_i, in R rows from `first` on, and their gradients.
  MatrixView<Real> previous(std::size_t first, std::size_t R) const { return top(layers_.back().previous, first, R); }
  MatrixView<Real> current(std::size_t first, std::size_t R) const { return top(layers_.back().current, first, R); }
  MatrixView<Real> previous_gradient(std::size_t first, std::size_t R) const {
    return top(layers_.back().previous_gradient, first, R);
  }
  MatrixView<Real> current_gradient(std::size_t first, std::size_t R) const {
    return top(layers_.back().current_gradient, first, R);
  }

  /// states [R, layers * S]: s_{i-1} of the first R rows, where sentence k of the rows is sentence order[k].
  void load(ConstMatrixView<Real> states, std::span<const std::uint32_t> order);
  void load(ConstMatrixView<Real> states);
  void store(MatrixView<Real> states) const;
  /// s_i becomes the previous state of the step after t. The backward pass is carry_backward.
  void carry(const layers::Packing& packing, std::size_t t);
  void carry_backward(const layers::Packing& packing, std::size_t t);

  /// Multiplies the columns of the input that are known before the steps, for all Y rows at once.
  void multiply_known();
  /// s_i of R rows from `first` on.
  void update(std::size_t first, std::size_t R);

  /// Call it before the steps of the backward pass, with frame as for `begin` until `accumulate`.
  void begin_backward(kernels::Scratch::Frame& frame);
  /// Writes the gradient of the input, except for the columns known before the steps.
  void update_backward(std::size_t first, std::size_t R);
  /// Call it after the steps. ADDS to the gradient of the weights, and completes that of the input.
  void accumulate();
  /// [Y, S] of every layer: the gradient of s_{i-1}.
  std::vector<MatrixView<Real>> previous_gradients() const;

 private:
  using Buffer = kernels::Buffer<Real>;
  struct Layer {
    std::unique_ptr<layers::Cell<Real>> cell;
    kernels::PackedMatrix<Real> W_in;            // all rows except those of known columns
    Buffer input, input_gradient;                // [Y, I]
    Buffer x;                                    // [Y, .]; after the backward pass its gradient
    Buffer previous, current;                    // [Y, S] s_{i-1}, s_i
    Buffer previous_gradient, current_gradient;  // [Y, S]
  };

  MatrixView<Real> top(const Buffer& states, std::size_t first, std::size_t R) const {
    return states.view().row_range(first, R).columns(0, options_.state);
  }
  std::size_t known(std::size_t k) const { return k == 0 ? known_ : 0; }

  const ModelOptions& options_;
  const std::vector<layers::RecurrentWeights<Real>> weights_, gradient_;
  const Dropout& dropout_;
  std::size_t known_;        // the number of columns of the first layer's input that are known before the steps
  std::size_t state_width_;  // S
  std::vector<Layer> layers_;
  kernels::Scratch packed_memory_;
  std::optional<kernels::Scratch::Frame> packed_;  // holds the matrices, packed for the forward pass
};

}  // namespace rnnsearch::model

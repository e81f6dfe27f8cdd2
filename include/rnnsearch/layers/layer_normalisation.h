// Layer normalisation of summed inputs (Ba, Kiros and Hinton 2016, equation 4): y = LN(a; g, b), see
// kernels/normalisation.h. R rows of a step, W units, normalised in groups of adjacent columns: the authors normalise
// the gates z and r of a gated unit together, and all four sums of an LSTM.
#pragma once

#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/buffer.h"

namespace rnnsearch::layers {

/// Both spans are empty if there is no normalisation.
struct NormalisationWeights {
  std::span<Real> g, b;  // [W] gain, bias
};

/// Stores the results of its forward pass that its backward pass needs, by row, like a Cell.
class LayerNormalisation {
 public:
  /// groups: the widths of the groups from the first column on; their sum is W.
  LayerNormalisation(const NormalisationWeights& weights, const NormalisationWeights& gradient,
                     std::vector<std::size_t> groups);

  void begin(std::size_t rows);
  /// Replaces a [R, W] by y.
  void forward(std::size_t first, Matrix a);
  /// Replaces the gradient of y [R, W] by that of a.
  void backward(std::size_t first, Matrix gradient);
  /// Call it after the backward steps. ADDS to the gradient of g and b for all rows.
  void accumulate() const;

 private:
  NormalisationWeights weights_, gradient_;
  std::vector<std::size_t> groups_;
  kernels::Buffer<Real> normalised_, inverse_deviation_, y_gradient_;  // [rows, W], [rows, groups], [rows, W]
};

}  // namespace rnnsearch::layers

// Layer normalisation of summed inputs (Ba, Kiros and Hinton 2016, equation 4): y = LN(a; g, b), see
// kernels/normalisation.h. R rows of a step, W units, normalised in groups of columns that lie side by side: the
// authors normalise the gates z and r of a gated unit together, and all four sums of an LSTM.
#pragma once

#include <span>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/buffer.h"

namespace rnnsearch::layers {

/// Empty: there is none.
template <class Real>
struct NormalisationWeights {
  std::span<Real> g, b;  // [W] gain, bias
};

/// Holds what its forward pass leaves for its backward pass, by row, as a Cell does.
template <class Real>
class LayerNormalisation {
 public:
  /// groups: their widths, from the first column on; W together.
  LayerNormalisation(const NormalisationWeights<Real>& weights, const NormalisationWeights<Real>& gradient,
                     std::vector<std::size_t> groups);

  void begin(std::size_t rows);
  /// [R, W]: a becomes y.
  void forward(std::size_t first, MatrixView<Real> a);
  /// [R, W]: the gradient of y becomes that of a.
  void backward(std::size_t first, MatrixView<Real> gradient);
  /// After the steps, of all rows: ADDS to the gradient of g and b.
  void accumulate() const;

 private:
  NormalisationWeights<Real> weights_, gradient_;
  std::vector<std::size_t> groups_;
  kernels::Buffer<Real> normalised_, inverse_deviation_, y_gradient_;  // [rows, W], [rows, groups], [rows, W]
};

}  // namespace rnnsearch::layers

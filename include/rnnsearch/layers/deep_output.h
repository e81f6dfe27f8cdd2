// The deep output layer (Pascanu et al. 2014) between the decoder and the softmax. It computes t from the inputs x of
// the readout:
//   maxout  t = maxout over pairs of x W + b       W [I, 2l], t [l]    (Bahdanau, Cho and Bengio 2015)
//   tanh    t = tanh(x W + b)                      W [I, n], t [n]     (Luong, Pham and Manning 2015, equation 5)
//   linear  t = x
//   affine  t = x W + b                            W [I, m], t [m]     (a linear readout whose output is fed back)
//   mlp     t = max(x W + b, 0) W_2 + b_2          W [I, m/2], t [m]
// R rows of a step, I input width, H width of t.
#pragma once

#include <span>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/kernels/buffer.h"

namespace rnnsearch::layers {

enum class DeepOutputKind { kMaxout, kTanh, kLinear, kAffine, kMlp };

template <class Real>
struct DeepOutputWeights {
  MatrixView<Real> W;
  std::span<Real> b;
  MatrixView<Real> W_2;
  std::span<Real> b_2;
};

/// Stores the results of its forward pass that its backward pass needs, by row, like a Cell.
template <class Real>
class DeepOutput {
 public:
  DeepOutput(DeepOutputKind kind, const DeepOutputWeights<Real>& weights, const DeepOutputWeights<Real>& gradient)
      : kind_(kind), weights_(weights), gradient_(gradient) {}

  /// Call it before the steps of a pass over `rows` rows of width I.
  void begin(std::size_t rows, std::size_t input_width);
  /// input [R, I]
  void forward(std::size_t first, ConstMatrixView<Real> input);
  /// [rows, H], the t of the forward pass.
  MatrixView<Real> output() const { return t_.view(); }
  /// t_gradient [R, H] is overwritten; input_gradient [R, I] out.
  void backward(std::size_t first, MatrixView<Real> t_gradient, MatrixView<Real> input_gradient);
  /// Call it after the steps, with the input [rows, I] of all of them. ADDS to the gradient of the weights.
  void accumulate(ConstMatrixView<Real> input);

 private:
  DeepOutputKind kind_;
  DeepOutputWeights<Real> weights_, gradient_;
  kernels::Buffer<Real> sums_, t_, sums_gradient_, t_gradient_;
};

}  // namespace rnnsearch::layers

#include "rnnsearch/layers/output.h"

#include <algorithm>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/kernels/softmax.h"

namespace rnnsearch::layers {
namespace {

// The division of all rows into blocks. Smaller blocks would update the gradient of W_o too often, larger ones would
// take too much memory. The blocks have about equal size, a multiple of the largest strip of a product.
struct Blocks {
  static constexpr std::size_t kRows = 512, kBytes = 60 << 20, kStrip = 32;
  std::size_t all, rows;

  template <class Real>
  Blocks(const OutputWeights<Real>& weights, std::size_t R) : all(R) {
    const std::size_t most = std::clamp<std::size_t>(kBytes / (weights.b_w.size() * sizeof(float)), 1, kRows);
    const std::size_t count = std::max<std::size_t>(1, ceil_div(all, most)), even = ceil_div(all, count);
    rows = std::min(all, ceil_div(even, kStrip) * kStrip);
  }

  /// Calls block(first, count) for every block.
  template <class Block>
  void for_each(const Block& block) const {
    for (std::size_t first = 0; first < all; first += rows) block(first, std::min(rows, all - first));
  }
};

template <class Real>
bool is_tied(const OutputWeights<Real>& weights) {
  return weights.E.rows > 0;
}

template <class Real>
kernels::PackedMatrix<Real> packed(const OutputWeights<Real>& weights, kernels::Scratch::Frame& frame) {
  kernels::PackedMatrix<Real> W_o;
  if (is_tied(weights)) {
    W_o.pack_transposed(weights.E, frame);
  } else {
    W_o.pack(weights.W_o, frame);
  }
  return W_o;
}

template <class Real>
kernels::PackedMatrix<Real> packed_transposed(const OutputWeights<Real>& weights, kernels::Scratch::Frame& frame) {
  kernels::PackedMatrix<Real> W_o_transposed;
  if (is_tied(weights)) {
    W_o_transposed.pack(weights.E, frame);
  } else {
    W_o_transposed.pack_transposed(weights.W_o, frame);
  }
  return W_o_transposed;
}

template <class Real>
void pack_once(const OutputWeights<Real>& weights, OutputActivations<Real>& activations) {
  if (activations.packed) return;
  if (is_tied(weights)) {
    activations.packed_W_o.pack_transposed(weights.E);
  } else {
    activations.packed_W_o.pack(weights.W_o);
  }
  activations.packed = true;
}

}  // namespace

template <class Real>
void output_log_probabilities(const OutputWeights<Real>& weights, ConstMatrixView<Real> t,
                              OutputActivations<Real>& activations, MatrixView<Real> log_probabilities) {
  pack_once(weights, activations);
  kernels::multiply<Real>(t, activations.packed_W_o, log_probabilities);
  kernels::log_softmax<Real>(weights.b_w, log_probabilities);
}

template <class Real>
void output_top_words(const OutputWeights<Real>& weights, ConstMatrixView<Real> t, OutputActivations<Real>& activations,
                      kernels::TopWords<Real>& top) {
  pack_once(weights, activations);
  kernels::top_words<Real>(t, activations.packed_W_o, weights.b_w, top);
}

template <class Real>
void output_loss(const OutputWeights<Real>& weights, ConstMatrixView<Real> t, std::span<const WordId> target,
                 OutputActivations<Real>& activations, std::span<double> loss) {
  kernels::Scratch::Frame frame(activations.memory);
  const auto W_o = packed(weights, frame);
  const Blocks blocks(weights, t.rows);
  const auto block = frame.matrix<Real>(blocks.rows, weights.b_w.size());
  blocks.for_each([&](std::size_t first, std::size_t count) {
    const auto logits = block.row_range(0, count);
    kernels::multiply<Real>(t.row_range(first, count), W_o, logits);
    kernels::softmax_loss<Real>(weights.b_w, logits, target.subspan(first, count), loss.subspan(first, count));
  });
}

template <class Real>
void output_loss_and_backward(const OutputWeights<Real>& weights, const OutputWeights<Real>& gradient,
                              ConstMatrixView<Real> t, std::span<const WordId> target,
                              OutputActivations<Real>& activations, std::span<double> loss, MatrixView<Real> t_gradient,
                              double label_smoothing) {
  kernels::Scratch::Frame frame(activations.memory);
  const auto W_o = packed(weights, frame), W_o_transposed = packed_transposed(weights, frame);
  const Blocks blocks(weights, t.rows);
  const auto block = frame.matrix<Real>(blocks.rows, weights.b_w.size());
  blocks.for_each([&](std::size_t first, std::size_t count) {
    const auto logits = block.row_range(0, count);
    const auto rows = t.row_range(first, count);
    kernels::multiply<Real>(rows, W_o, logits);
    kernels::softmax_cross_entropy<Real>(weights.b_w, logits, target.subspan(first, count), loss.subspan(first, count),
                                         label_smoothing);
    if (is_tied(weights)) {
      kernels::accumulate_outer<Real>(logits, rows, gradient.E);
    } else {
      kernels::accumulate_outer<Real>(rows, logits, gradient.W_o);
    }
    kernels::add_column_sums<Real>(logits, gradient.b_w);
    kernels::multiply<Real>(logits, W_o_transposed, t_gradient.row_range(first, count));  // last: it may overwrite t
  });
}

#define RNNSEARCH_INSTANTIATE(Real)                                                                                   \
  template void output_log_probabilities(const OutputWeights<Real>&, ConstMatrixView<Real>, OutputActivations<Real>&, \
                                         MatrixView<Real>);                                                           \
  template void output_top_words(const OutputWeights<Real>&, ConstMatrixView<Real>, OutputActivations<Real>&,         \
                                 kernels::TopWords<Real>&);                                                           \
  template void output_loss(const OutputWeights<Real>&, ConstMatrixView<Real>, std::span<const WordId>,               \
                            OutputActivations<Real>&, std::span<double>);                                             \
  template void output_loss_and_backward(const OutputWeights<Real>&, const OutputWeights<Real>&,                      \
                                         ConstMatrixView<Real>, std::span<const WordId>, OutputActivations<Real>&,    \
                                         std::span<double>, MatrixView<Real>, double);
RNNSEARCH_INSTANTIATE(float)
RNNSEARCH_INSTANTIATE(double)
#undef RNNSEARCH_INSTANTIATE

}  // namespace rnnsearch::layers

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

  Blocks(const OutputWeights& weights, std::size_t R) : all(R) {
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

bool is_tied(const OutputWeights& weights) {
  return weights.E.rows > 0;
}

// Packs W_o or its transpose. W_o may be the transpose of a table.
void pack(const OutputWeights& weights, bool transposed, kernels::PackedMatrix& to, kernels::Scratch::Frame* frame) {
  const Matrix& stored = is_tied(weights) ? weights.E : weights.W_o;
  is_tied(weights) != transposed ? to.pack_transposed(stored, frame) : to.pack(stored, frame);
}

void pack_once(const OutputWeights& weights, OutputActivations& activations) {
  if (!activations.packed) pack(weights, false, activations.packed_W_o, nullptr);
  activations.packed = true;
}

}  // namespace

void output_log_probabilities(const OutputWeights& weights, ConstMatrix t, OutputActivations& activations,
                              Matrix log_probabilities) {
  pack_once(weights, activations);
  kernels::multiply(t, activations.packed_W_o, log_probabilities);
  kernels::log_softmax(weights.b_w, log_probabilities);
}

void output_top_words(const OutputWeights& weights, ConstMatrix t, OutputActivations& activations,
                      kernels::TopWords& top) {
  pack_once(weights, activations);
  kernels::top_words(t, activations.packed_W_o, weights.b_w, top);
}

void output_loss(const OutputWeights& weights, ConstMatrix t, std::span<const WordId> target,
                 OutputActivations& activations, std::span<double> loss) {
  kernels::Scratch::Frame frame(activations.memory);
  kernels::PackedMatrix W_o;
  pack(weights, false, W_o, &frame);
  const Blocks blocks(weights, t.rows);
  const auto block = frame.matrix(blocks.rows, weights.b_w.size());
  blocks.for_each([&](std::size_t first, std::size_t count) {
    const auto logits = block.row_range(0, count);
    kernels::multiply(t.row_range(first, count), W_o, logits);
    kernels::softmax_loss({weights.b_w, logits, target.subspan(first, count), loss.subspan(first, count)});
  });
}

void output_loss_and_backward(const OutputWeights& weights, const OutputWeights& gradient, ConstMatrix t,
                              std::span<const WordId> target, OutputActivations& activations, std::span<double> loss,
                              Matrix t_gradient, double label_smoothing, std::span<const Real> weight) {
  kernels::Scratch::Frame frame(activations.memory);
  kernels::PackedMatrix W_o, W_o_transposed;
  pack(weights, false, W_o, &frame);
  pack(weights, true, W_o_transposed, &frame);
  const Blocks blocks(weights, t.rows);
  const auto block = frame.matrix(blocks.rows, weights.b_w.size());
  blocks.for_each([&](std::size_t first, std::size_t count) {
    const auto logits = block.row_range(0, count);
    const auto rows = t.row_range(first, count);
    kernels::multiply(rows, W_o, logits);
    kernels::softmax_cross_entropy({weights.b_w, logits, target.subspan(first, count), loss.subspan(first, count),
                                    label_smoothing, weight.empty() ? weight : weight.subspan(first, count)});
    if (is_tied(weights)) {
      kernels::accumulate_outer(logits, rows, gradient.E);
    } else {
      kernels::accumulate_outer(rows, logits, gradient.W_o);
    }
    kernels::add_column_sums(logits, gradient.b_w);
    kernels::multiply(logits, W_o_transposed, t_gradient.row_range(first, count));  // last: it may overwrite t
  });
}

}  // namespace rnnsearch::layers

#include "rnnsearch/layers/recurrent_layer.h"

#include <algorithm>
#include <numeric>

#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::layers {
namespace {

// The step that is read as number i, the step that is read before it, and the number of sentences that have both.
struct Order {
  std::size_t step, before, continuing;
};

Order order(const Packing& packing, Direction direction, std::size_t i) {
  if (direction == Direction::kForward) return {i, i == 0 ? 0 : i - 1, i == 0 ? 0 : packing.active[i]};
  const std::size_t t = packing.steps() - 1 - i;
  return {t, t + 1, packing.continuing(t)};
}

// h' of a step, [active, S]; 0 for sentences that start there.
void gather_previous(const Packing& packing, const Order& at, ConstMatrix states, Matrix previous) {
  if (at.continuing > 0) {
    kernels::copy_rows(packing.step(states, at.before, at.continuing), previous.row_range(0, at.continuing));
  }
  kernels::zero_rows(previous.row_range(at.continuing, previous.rows - at.continuing));
}

}  // namespace

RecurrentLayer::RecurrentLayer(CellKind kind, std::size_t n, Direction direction, const RecurrentWeights& weights,
                               const RecurrentWeights& gradient, const kernels::Scratch& memory)
    : state_width_(cell_state_width(kind, n)),
      direction_(direction),
      weights_(weights),
      gradient_(gradient),
      memory_(memory),
      cell_(make_cell(kind, weights.cell, gradient.cell)) {}

void RecurrentLayer::forward(const Packing& packing, const RepeatedRows& input, Matrix states,
                             const kernels::DropoutMask& recurrent_dropout) {
  const std::size_t X = packing.words(), B = packing.sentences();
  const auto x = x_.shape(X, weights_.W_in.cols);
  affine_forward(input, weights_.W_in, weights_.b, x, memory_);
  kernels::Scratch::Frame frame(memory_);
  const auto previous_rows = frame.matrix(B, state_width_);
  cell_->begin(X, B, frame, recurrent_dropout);
  cell_->pack(frame);
  for (std::size_t i = 0; i < packing.steps(); ++i) {
    const Order at = order(packing, direction_, i);
    const std::size_t t = at.step;
    const auto previous = previous_rows.row_range(0, packing.active[t]);
    gather_previous(packing, at, states, previous);
    cell_->forward({packing.first_row[t], at.continuing, packing.step(x, t), previous, packing.step(states, t)});
  }
}

void RecurrentLayer::backward(const Packing& packing, const RepeatedRows& input, Matrix states, Matrix state_gradient,
                              Matrix input_gradient, kernels::Scratch::Frame& frame) {
  const auto x = x_.view();  // its gradient takes its place
  const auto carry_rows = frame.matrix(packing.sentences(), state_width_);
  previous_ = frame.matrix(packing.words(), state_width_);
  cell_->begin_backward(frame);
  for (std::size_t i = packing.steps(); i-- > 0;) {
    const Order at = order(packing, direction_, i);
    const std::size_t t = at.step;
    gather_previous(packing, at, states, packing.step(previous_, t));
    const auto carry = carry_rows.row_range(0, packing.active[t]);
    kernels::zero_rows(carry);
    cell_->backward(
        {packing.first_row[t], at.continuing, packing.step(x, t), packing.step(previous_, t), packing.step(states, t)},
        packing.step(state_gradient, t), carry);
    if (at.continuing > 0) {
      kernels::add(carry.row_range(0, at.continuing), packing.step(state_gradient, at.before, at.continuing));
    }
  }
  sums_ = add_repeated(input, x, frame);
  kernels::multiply_transposed(sums_, weights_.W_in, input_gradient, kernels::Into::kAdd);
}

void RecurrentLayer::accumulate(const RepeatedRows& input) {
  cell_->accumulate(previous_, x_.view());
  kernels::accumulate_outer(input.distinct, sums_, gradient_.W_in);
  kernels::add_column_sums(sums_.columns(0, gradient_.b.size()), gradient_.b);
}

Packing::Packing(std::span<const std::size_t> lengths) : order(lengths.size()) {
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return lengths[a] > lengths[b]; });
  first_row.push_back(0);
  std::size_t running = lengths.size();
  const std::size_t steps = lengths.empty() ? 0 : lengths[order[0]];
  for (std::size_t t = 0; t < steps; ++t) {
    while (lengths[order[running - 1]] <= t) --running;
    active.push_back(running);
    first_row.push_back(first_row.back() + running);
  }
}

SentenceRows::SentenceRows(const Packing& packing) : offsets(packing.sentences() + 1), rows(packing.words()) {
  packing.for_each_row([&](std::size_t, std::size_t b, std::size_t) { ++offsets[b + 1]; });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  auto next = offsets;
  packing.for_each_row(
      [&](std::size_t row, std::size_t b, std::size_t) { rows[next[b]++] = static_cast<std::uint32_t>(row); });
}

std::vector<std::size_t> lengths_with_end(const Sentences& sentences) {
  std::vector<std::size_t> lengths(sentences.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = sentences.length(i) + 1;
  return lengths;
}

std::vector<WordId> pack_words(const Packing& packing, const Sentences& sentences) {
  std::vector<WordId> words(packing.words());
  packing.for_each_row([&](std::size_t row, std::size_t b, std::size_t t) {
    words[row] = t < sentences.length(b) ? sentences[b][t] : kEnd;
  });
  return words;
}

std::vector<std::uint32_t> one_step_before(const Packing& packing, std::span<const std::uint32_t> numbers,
                                           std::uint32_t none) {
  std::vector<std::uint32_t> before(packing.words(), none);
  for (std::size_t t = 1; t < packing.steps(); ++t) {
    std::copy_n(&numbers[packing.first_row[t - 1]], packing.active[t], &before[packing.first_row[t]]);
  }
  return before;
}

}  // namespace rnnsearch::layers

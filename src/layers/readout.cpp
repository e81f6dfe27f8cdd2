#include "rnnsearch/layers/readout.h"

#include <algorithm>
#include <cassert>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/kernels/cells.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/kernels/softmax.h"

namespace rnnsearch::layers {

using kernels::Into;

namespace {

// Packs W_o or its transpose. W_o may be the transpose of a table.
void pack_output(const OutputWeights& output, bool transposed, kernels::PackedMatrix& to,
                 kernels::Scratch::Frame* frame) {
  const Matrix& stored = output.is_tied() ? output.E : output.W_o;
  output.is_tied() != transposed ? to.pack_transposed(stored, frame) : to.pack(stored, frame);
}

// Zeros in the shapes of the weights of a number of words.
OutputWeights zeros_like(const OutputWeights& output, std::size_t words, kernels::Scratch::Frame& frame) {
  OutputWeights zeros;
  zeros.b_w = {frame.zeros(1, words).data, words};
  (output.is_tied() ? zeros.E : zeros.W_o) =
      output.is_tied() ? frame.zeros(words, output.E.cols) : frame.zeros(output.W_o.rows, words);
  return zeros;
}

void scatter_add_output(const OutputWeights& from, std::span<const WordId> words, const OutputWeights& to,
                        RowGradient* rows) {
  for (std::size_t u = 0; u < words.size(); ++u) to.b_w[words[u]] += from.b_w[u];
  if (rows) return rows->add(words, from.E);
  if (from.is_tied()) return kernels::scatter_add_rows(from.E, words, to.E);
  parallel_for(from.W_o.rows, [&](std::size_t k) {
    for (std::size_t u = 0; u < words.size(); ++u) to.W_o(k, words[u]) += from.W_o(k, u);
  });
}

}  // namespace

Readout::Readout(ReadoutKind kind, const ReadoutWeights& weights, const ReadoutWeights& gradient,
                 const kernels::Scratch& memory, RowGradient* rows)
    : kind_(kind), weights_(weights), gradient_(gradient), memory_(memory), rows_(rows) {}

void Readout::begin(std::size_t rows, kernels::Scratch::Frame& frame, const kernels::DropoutMask& dropout,
                    bool packed) {
  const OutputWeights& output = weights_.output;
  const std::size_t rank = weights_.W_o_left.cols;
  const std::size_t H = rank > 0 ? weights_.W_o_left.rows : output.is_tied() ? output.E.cols : output.W_o.rows;
  dropout_ = dropout;
  uses_packed_ = packed;
  t_ = sums_ = frame.matrix(rows, H);
  if (kind_ == ReadoutKind::kMaxout || kind_ == ReadoutKind::kMlp) {
    sums_ = frame.matrix(rows, weights_.W.cols);
  }
  if (dropout.drops()) dropped_ = frame.matrix(rows, H);
  if (rank > 0) factor_ = frame.matrix(rows, rank);
}

// c = a W, or c += a W, by the packed matrix in a pass of many steps.
void Readout::times(ConstMatrix a, ConstMatrix W, kernels::PackedMatrix& packed, Matrix c, Into into) const {
  if (!uses_packed_) return kernels::multiply(a, W, c, into);
  if (packed.rows() == 0) packed.pack(W);
  kernels::multiply(a, packed, c, into);
}
void Readout::times_transposed(ConstMatrix a, ConstMatrix W, const kernels::PackedMatrix& packed, Matrix c) const {
  uses_packed_ ? kernels::multiply(a, packed, c) : kernels::multiply_transposed(a, W, c);
}

void Readout::forward(std::size_t first, const ReadoutInput& input) {
  const std::size_t R = input.front().rows;
  const auto t = t_.row_range(first, R), sums = sums_.row_range(first, R);
  std::size_t column = 0;
  for (std::size_t i = 0; i < input.size(); column += input[i++].cols) {
    if (joins()) {
      kernels::copy_rows(input[i], t.columns(column, input[i].cols));
      continue;
    }
    if (packed_W_.size() == i) packed_W_.emplace_back();
    times(input[i], weights_.W.row_range(column, input[i].cols), packed_W_[i], sums,
          i == 0 ? Into::kOverwrite : Into::kAdd);
  }
  if (!joins()) kernels::add_to_rows(weights_.b, sums);
  if (kind_ == ReadoutKind::kMaxout) {
    kernels::maxout_forward(sums, t);
  } else if (kind_ == ReadoutKind::kTanh) {
    kernels::tanh_forward(t);
  } else if (kind_ == ReadoutKind::kMlp) {
    kernels::relu_forward(sums);
    times(sums, weights_.W_2, packed_W_2_, t, Into::kOverwrite);
    kernels::add_to_rows(weights_.b_2, t);
  }
  if (!dropout_.drops()) return;
  const auto dropped = dropped_.row_range(first, R);
  kernels::copy_rows(t, dropped);
  kernels::drop(dropout_.rows(first, R), dropped);
}

// The input of the output matrix: t, or t W_o_left.
Matrix Readout::output_input() {
  if (weights_.W_o_left.cols == 0) return vector();
  kernels::multiply(vector(), weights_.W_o_left, factor_);
  return factor_;
}

const kernels::PackedMatrix& Readout::packed_output() {
  if (packed_W_o_.rows() == 0) pack_output(weights_.output, false, packed_W_o_, nullptr);
  return packed_W_o_;
}

// Calls use(first, logits) for blocks of rows of `last`, the input of the output matrix, where the logits are without
// the bias. Smaller blocks would update the gradient of W_o too often, larger ones would take too much memory. The
// blocks have about equal size, a multiple of the largest strip of a product.
template <class Use>
void Readout::for_logits(ConstMatrix last, const OutputWeights& output, const Use& use) {
  constexpr std::size_t kRows = 512, kBytes = 60 << 20, kStrip = 32;
  const std::size_t R = last.rows, K = output.b_w.size();
  const std::size_t most = std::clamp<std::size_t>(kBytes / (K * sizeof(float)), 1, kRows);
  const std::size_t even = ceil_div(R, std::max<std::size_t>(1, ceil_div(R, most)));
  const std::size_t rows = std::min(R, ceil_div(even, kStrip) * kStrip);
  kernels::Scratch::Frame frame(memory_);
  kernels::PackedMatrix W_o;
  pack_output(output, false, W_o, &frame);
  const auto block = frame.matrix(rows, K);
  for (std::size_t first = 0; first < R; first += rows) {
    const auto logits = block.row_range(0, std::min(rows, R - first));
    kernels::multiply(last.row_range(first, logits.rows), W_o, logits);
    use(first, logits);
  }
}

void Readout::loss(std::span<const WordId> target, std::span<double> loss) {
  for_logits(output_input(), weights_.output, [&](std::size_t first, Matrix logits) {
    kernels::softmax_loss(
        {weights_.output.b_w, logits, target.subspan(first, logits.rows), loss.subspan(first, logits.rows)});
  });
}

// With a sample V' of the words this is Jean et al. (2015), section 3.1: equations 7 to 10 with the proposal Q that is
// uniform over V', whose importance weights are those of a softmax over V'.
void Readout::loss_and_backward(const ReadoutLoss& args, kernels::Scratch::Frame& frame) {
  const auto t = vector(), last = output_input();
  const bool factored = weights_.W_o_left.cols > 0;
  // The gradient takes the place of the input, unless the slope of tanh needs it.
  const bool in_place = factored || dropout_.drops() || kind_ != ReadoutKind::kTanh;
  const auto last_gradient = in_place ? last : frame.matrix(last.rows, last.cols);
  {
    kernels::Scratch::Frame inner(memory_);
    const bool sampled = !args.sample.empty();
    assert(sampled || !rows_);
    OutputWeights output = weights_.output, gradient = gradient_.output;
    std::span<const WordId> target = args.target;
    std::vector<WordId> columns;  // of the targets in the sample
    if (sampled) {
      output = zeros_like(weights_.output, args.sample.size(), inner);
      gradient = zeros_like(weights_.output, args.sample.size(), inner);
      gather_output(weights_.output, args.sample, output.is_tied() ? output.E : output.W_o);
      std::ranges::transform(args.sample, output.b_w.begin(), [&](WordId word) { return weights_.output.b_w[word]; });
      for (const WordId word : args.target) {
        const auto found = std::ranges::lower_bound(args.sample, word);
        assert(found != args.sample.end() && *found == word);
        columns.push_back(static_cast<WordId>(found - args.sample.begin()));
      }
      target = columns;
    }
    kernels::PackedMatrix W_o_transposed;
    pack_output(output, true, W_o_transposed, &inner);
    for_logits(last, output, [&](std::size_t first, Matrix logits) {
      const std::size_t count = logits.rows;
      const auto rows = last.row_range(first, count);
      kernels::softmax_cross_entropy({output.b_w, logits, target.subspan(first, count), args.loss.subspan(first, count),
                                      args.label_smoothing,
                                      args.weight.empty() ? args.weight : args.weight.subspan(first, count)});
      if (gradient.is_tied()) {
        kernels::accumulate_outer(logits, rows, gradient.E);
      } else {
        kernels::accumulate_outer(rows, logits, gradient.W_o);
      }
      kernels::add_column_sums(logits, gradient.b_w);
      kernels::multiply(logits, W_o_transposed, last_gradient.row_range(first, count));  // last: it may overwrite rows
    });
    if (sampled) scatter_add_output(gradient, args.sample, gradient_.output, rows_);
  }
  t_gradient_ = last_gradient;
  if (factored) {
    t_gradient_ = frame.matrix(t.rows, t.cols);
    kernels::multiply_transposed(last_gradient, weights_.W_o_left, t_gradient_);
    kernels::accumulate_outer(t, last_gradient, gradient_.W_o_left);
  }
  sums_gradient_ = t_gradient_;
  if (kind_ == ReadoutKind::kMaxout) sums_gradient_ = sums_;  // takes its place
  if (kind_ == ReadoutKind::kMlp) sums_gradient_ = frame.matrix(sums_.rows, sums_.cols);
  if (!uses_packed_ || joins()) return;
  W_transposed_.pack_transposed(weights_.W, &frame);
  if (kind_ == ReadoutKind::kMlp) W_2_transposed_.pack_transposed(weights_.W_2, &frame);
}

void Readout::backward(std::size_t first, Matrix input_gradient) {
  const std::size_t R = input_gradient.rows;
  const auto t_gradient = t_gradient_.row_range(first, R), sums_gradient = sums_gradient_.row_range(first, R);
  kernels::drop(dropout_.rows(first, R), t_gradient);
  if (joins()) {
    kernels::copy_rows(t_gradient, input_gradient);
    return;
  }
  if (kind_ == ReadoutKind::kMaxout) {
    kernels::maxout_backward({sums_.row_range(first, R), t_gradient, sums_gradient});
  } else if (kind_ == ReadoutKind::kTanh) {
    kernels::tanh_backward({t_.row_range(first, R), t_gradient});
  } else if (kind_ == ReadoutKind::kMlp) {
    times_transposed(t_gradient, weights_.W_2, W_2_transposed_, sums_gradient);
    kernels::relu_backward({sums_.row_range(first, R), sums_gradient});
  }
  times_transposed(sums_gradient, weights_.W, W_transposed_, input_gradient);
}

void Readout::accumulate(const ReadoutInput& input) {
  if (joins()) return;
  std::size_t row = 0;
  for (const auto& block : input) {
    kernels::accumulate_outer(block, sums_gradient_, gradient_.W.row_range(row, block.cols));
    row += block.cols;
  }
  kernels::add_column_sums(sums_gradient_, gradient_.b);
  if (kind_ != ReadoutKind::kMlp) return;
  kernels::accumulate_outer(sums_, t_gradient_, gradient_.W_2);
  kernels::add_column_sums(t_gradient_, gradient_.b_2);
}

void Readout::pack() {
  packed_W_.clear();
  packed_W_2_ = {};
  packed_W_o_ = {};
}

void Readout::all_log_probabilities(ConstMatrix last, const ShortlistRows& lists, Matrix log_probabilities) {
  if (lists.output) return lists.output->log_probabilities(last, lists.sentence, log_probabilities);
  kernels::multiply(last, packed_output(), log_probabilities);
  kernels::log_softmax(weights_.output.b_w, log_probabilities);
}

void Readout::log_probabilities(Matrix log_probabilities, const ShortlistRows& lists) {
  all_log_probabilities(output_input(), lists, log_probabilities);
}

void Readout::top_words(kernels::TopWords& top, const ShortlistRows& lists) {
  const auto last = output_input(), input = top_input_.shape(last.rows, last.cols);
  kernels::copy_rows(last, input);
  if (lists.output) return lists.output->top_words(input, lists.sentence, top);
  kernels::top_words(input, packed_output(), weights_.output.b_w, top);
}

void Readout::log_probabilities(std::span<const std::uint32_t> row, Matrix log_probabilities,
                                const ShortlistRows& lists) {
  const auto input = gathered_.shape(row.size(), top_input_.view().cols);
  kernels::gather_rows(top_input_.view(), row, input);
  std::vector<std::uint32_t> sentence;
  for (std::size_t i = 0; i < row.size() && lists.output; ++i) sentence.push_back(lists.sentence[row[i]]);
  all_log_probabilities(input, {lists.output, sentence}, log_probabilities);
}

}  // namespace rnnsearch::layers

#include "rnnsearch/layers/readout.h"

#include "rnnsearch/kernels/cells.h"
#include "rnnsearch/kernels/gates.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/kernels/softmax.h"

namespace rnnsearch::layers {

using kernels::Into;

Readout::Readout(ReadoutKind kind, const ReadoutWeights& weights, const ReadoutWeights& gradient,
                 const kernels::Scratch& memory)
    : kind_(kind), weights_(weights), gradient_(gradient) {
  output_.memory = memory;
}

void Readout::begin(std::size_t rows, kernels::Scratch::Frame& frame, const kernels::DropoutMask& dropout,
                    bool packed) {
  const OutputWeights& output = weights_.output;
  const std::size_t rank = weights_.W_o_left.cols;
  const std::size_t H = rank > 0 ? weights_.W_o_left.rows : output.E.rows > 0 ? output.E.cols : output.W_o.rows;
  dropout_ = dropout;
  uses_packed_ = packed;
  t_ = sums_ = frame.matrix(rows, H);
  if (kind_ == ReadoutKind::kMaxout || kind_ == ReadoutKind::kMlp) {
    sums_ = frame.matrix(rows, weights_.W.cols);
  }
  if (dropout.drops()) dropped_ = frame.matrix(rows, H);
  if (rank > 0) factor_ = frame.matrix(rows, rank);
}

void Readout::forward(std::size_t first, const ReadoutInput& input) {
  const std::size_t R = input.front().rows;
  const auto t = t_.row_range(first, R), sums = sums_.row_range(first, R);
  std::size_t column = 0;
  for (std::size_t i = 0; i < input.size(); column += input[i++].cols) {
    const Into into = i == 0 ? Into::kOverwrite : Into::kAdd;
    if (kind_ == ReadoutKind::kLinear) {
      kernels::copy_rows(input[i], t.columns(column, input[i].cols));
    } else if (uses_packed_) {
      if (packed_W_.size() == i) packed_W_.emplace_back().pack(weights_.W.row_range(column, input[i].cols));
      kernels::multiply(input[i], packed_W_[i], sums, into);
    } else {
      kernels::multiply(input[i], weights_.W.row_range(column, input[i].cols), sums, into);
    }
  }
  if (kind_ != ReadoutKind::kLinear) kernels::add_to_rows(weights_.b, sums);
  if (kind_ == ReadoutKind::kMaxout) {
    kernels::maxout_forward(sums, t);
  } else if (kind_ == ReadoutKind::kTanh) {
    kernels::tanh_forward(t);
  } else if (kind_ == ReadoutKind::kMlp) {
    kernels::relu_forward(sums);
    if (uses_packed_) {
      if (packed_W_2_.rows() == 0) packed_W_2_.pack(weights_.W_2);
      kernels::multiply(sums, packed_W_2_, t);
    } else {
      kernels::multiply(sums, weights_.W_2, t);
    }
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

void Readout::loss(std::span<const WordId> target, std::span<double> loss) {
  output_loss(weights_.output, output_input(), target, output_, loss);
}

void Readout::loss_and_backward(std::span<const WordId> target, std::span<double> loss, kernels::Scratch::Frame& frame,
                                double label_smoothing, std::span<const Real> weight) {
  const auto t = vector(), last = output_input();
  const bool factored = weights_.W_o_left.cols > 0;
  // The gradient takes the place of the input, unless the slope of tanh needs it.
  const bool in_place = factored || dropout_.drops() || kind_ != ReadoutKind::kTanh;
  const auto last_gradient = in_place ? last : frame.matrix(last.rows, last.cols);
  output_loss_and_backward(weights_.output, gradient_.output, last, target, output_, loss, last_gradient,
                           label_smoothing, weight);
  t_gradient_ = last_gradient;
  if (factored) {
    t_gradient_ = frame.matrix(t.rows, t.cols);
    kernels::multiply_transposed(last_gradient, weights_.W_o_left, t_gradient_);
    kernels::accumulate_outer(t, last_gradient, gradient_.W_o_left);
  }
  sums_gradient_ = t_gradient_;
  if (kind_ == ReadoutKind::kMaxout) sums_gradient_ = sums_;  // takes its place
  if (kind_ == ReadoutKind::kMlp) sums_gradient_ = frame.matrix(sums_.rows, sums_.cols);
  if (!uses_packed_ || kind_ == ReadoutKind::kLinear) return;
  W_transposed_.pack_transposed(weights_.W, &frame);
  if (kind_ == ReadoutKind::kMlp) W_2_transposed_.pack_transposed(weights_.W_2, &frame);
}

void Readout::backward(std::size_t first, Matrix input_gradient) {
  const std::size_t R = input_gradient.rows;
  const auto t_gradient = t_gradient_.row_range(first, R), sums_gradient = sums_gradient_.row_range(first, R);
  kernels::drop(dropout_.rows(first, R), t_gradient);
  if (kind_ == ReadoutKind::kLinear) {
    kernels::copy_rows(t_gradient, input_gradient);
    return;
  }
  if (kind_ == ReadoutKind::kMaxout) {
    kernels::maxout_backward({sums_.row_range(first, R), t_gradient, sums_gradient});
  } else if (kind_ == ReadoutKind::kTanh) {
    kernels::tanh_backward({t_.row_range(first, R), t_gradient});
  } else if (kind_ == ReadoutKind::kMlp) {
    if (uses_packed_) {
      kernels::multiply(t_gradient, W_2_transposed_, sums_gradient);
    } else {
      kernels::multiply_transposed(t_gradient, weights_.W_2, sums_gradient);
    }
    kernels::relu_backward({sums_.row_range(first, R), sums_gradient});
  }
  if (uses_packed_) {
    kernels::multiply(sums_gradient, W_transposed_, input_gradient);
  } else {
    kernels::multiply_transposed(sums_gradient, weights_.W, input_gradient);
  }
}

void Readout::accumulate(const ReadoutInput& input) {
  if (kind_ == ReadoutKind::kLinear) return;
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
  output_.packed = false;
}

void Readout::log_probabilities(Matrix log_probabilities, const ShortlistRows& lists) {
  if (lists.output) return lists.output->log_probabilities(output_input(), lists.sentence, log_probabilities);
  output_log_probabilities(weights_.output, output_input(), output_, log_probabilities);
}

void Readout::top_words(kernels::TopWords& top, const ShortlistRows& lists) {
  const auto last = output_input(), input = top_input_.shape(last.rows, last.cols);
  kernels::copy_rows(last, input);
  if (lists.output) return lists.output->top_words(input, lists.sentence, top);
  output_top_words(weights_.output, input, output_, top);
}

void Readout::log_probabilities(std::span<const std::uint32_t> row, Matrix log_probabilities,
                                const ShortlistRows& lists) {
  const auto input = gathered_.shape(row.size(), top_input_.view().cols);
  kernels::gather_rows(top_input_.view(), row, input);
  if (lists.output) {
    std::vector<std::uint32_t> sentence;
    for (const std::uint32_t i : row) sentence.push_back(lists.sentence[i]);
    return lists.output->log_probabilities(input, sentence, log_probabilities);
  }
  output_log_probabilities(weights_.output, input, output_, log_probabilities);
}

}  // namespace rnnsearch::layers

#include "rnnsearch/layers/readout.h"

#include "rnnsearch/kernels/cells.h"
#include "rnnsearch/kernels/gates.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/kernels/softmax.h"

namespace rnnsearch::layers {

using kernels::Into;

template <class Real>
Readout<Real>::Readout(ReadoutKind kind, const ReadoutWeights<Real>& weights, const ReadoutWeights<Real>& gradient,
                       const kernels::Scratch& memory)
    : kind_(kind), weights_(weights), gradient_(gradient) {
  output_.memory = memory;
}

template <class Real>
void Readout<Real>::begin(std::size_t rows, kernels::Scratch::Frame& frame, const kernels::DropoutMask& dropout,
                          bool packed) {
  const OutputWeights<Real>& output = weights_.output;
  const std::size_t rank = weights_.W_o_left.cols;
  const std::size_t H = rank > 0 ? weights_.W_o_left.rows : output.E.rows > 0 ? output.E.cols : output.W_o.rows;
  dropout_ = dropout;
  uses_packed_ = packed;
  t_ = sums_ = frame.template matrix<Real>(rows, H);
  if (kind_ == ReadoutKind::kMaxout || kind_ == ReadoutKind::kMlp) {
    sums_ = frame.template matrix<Real>(rows, weights_.W.cols);
  }
  if (dropout.drops()) dropped_ = frame.template matrix<Real>(rows, H);
  if (rank > 0) factor_ = frame.template matrix<Real>(rows, rank);
}

template <class Real>
void Readout<Real>::forward(std::size_t first, const ReadoutInput<Real>& input) {
  const std::size_t R = input.front().rows;
  const auto t = t_.row_range(first, R), sums = sums_.row_range(first, R);
  std::size_t column = 0;
  for (std::size_t i = 0; i < input.size(); column += input[i++].cols) {
    const Into into = i == 0 ? Into::kOverwrite : Into::kAdd;
    if (kind_ == ReadoutKind::kLinear) {
      kernels::copy_rows<Real>(input[i], t.columns(column, input[i].cols));
    } else if (uses_packed_) {
      if (packed_W_.size() == i) packed_W_.emplace_back().pack(weights_.W.row_range(column, input[i].cols));
      kernels::multiply<Real>(input[i], packed_W_[i], sums, into);
    } else {
      kernels::multiply<Real>(input[i], weights_.W.row_range(column, input[i].cols), sums, into);
    }
  }
  if (kind_ != ReadoutKind::kLinear) kernels::add_to_rows<Real>(weights_.b, sums);
  if (kind_ == ReadoutKind::kMaxout) {
    kernels::maxout_forward<Real>(sums, t);
  } else if (kind_ == ReadoutKind::kTanh) {
    kernels::tanh_forward<Real>(t);
  } else if (kind_ == ReadoutKind::kMlp) {
    kernels::relu_forward<Real>(sums);
    if (uses_packed_) {
      if (packed_W_2_.rows() == 0) packed_W_2_.pack(weights_.W_2);
      kernels::multiply<Real>(sums, packed_W_2_, t);
    } else {
      kernels::multiply<Real>(sums, weights_.W_2, t);
    }
    kernels::add_to_rows<Real>(weights_.b_2, t);
  }
  if (!dropout_.drops()) return;
  const auto dropped = dropped_.row_range(first, R);
  kernels::copy_rows<Real>(t, dropped);
  kernels::drop<Real>(dropout_.rows(first, R), dropped);
}

// The input of the output matrix: t, or t W_o_left.
template <class Real>
MatrixView<Real> Readout<Real>::output_input() {
  if (weights_.W_o_left.cols == 0) return vector();
  kernels::multiply<Real>(vector(), weights_.W_o_left, factor_);
  return factor_;
}

template <class Real>
void Readout<Real>::loss(std::span<const WordId> target, std::span<double> loss) {
  output_loss<Real>(weights_.output, output_input(), target, output_, loss);
}

template <class Real>
void Readout<Real>::loss_and_backward(std::span<const WordId> target, std::span<double> loss,
                                      kernels::Scratch::Frame& frame, double label_smoothing) {
  const auto t = vector(), last = output_input();
  const bool factored = weights_.W_o_left.cols > 0;
  // The gradient takes the place of the input, unless the slope of tanh needs it.
  const bool in_place = factored || dropout_.drops() || kind_ != ReadoutKind::kTanh;
  const auto last_gradient = in_place ? last : frame.template matrix<Real>(last.rows, last.cols);
  output_loss_and_backward<Real>(weights_.output, gradient_.output, last, target, output_, loss, last_gradient,
                                 label_smoothing);
  t_gradient_ = last_gradient;
  if (factored) {
    t_gradient_ = frame.template matrix<Real>(t.rows, t.cols);
    kernels::multiply_transposed<Real>(last_gradient, weights_.W_o_left, t_gradient_);
    kernels::accumulate_outer<Real>(t, last_gradient, gradient_.W_o_left);
  }
  sums_gradient_ = t_gradient_;
  if (kind_ == ReadoutKind::kMaxout) sums_gradient_ = sums_;  // takes its place
  if (kind_ == ReadoutKind::kMlp) sums_gradient_ = frame.template matrix<Real>(sums_.rows, sums_.cols);
  if (!uses_packed_ || kind_ == ReadoutKind::kLinear) return;
  W_transposed_.pack_transposed(weights_.W, frame);
  if (kind_ == ReadoutKind::kMlp) W_2_transposed_.pack_transposed(weights_.W_2, frame);
}

template <class Real>
void Readout<Real>::backward(std::size_t first, MatrixView<Real> input_gradient) {
  const std::size_t R = input_gradient.rows;
  const auto t_gradient = t_gradient_.row_range(first, R), sums_gradient = sums_gradient_.row_range(first, R);
  kernels::drop<Real>(dropout_.rows(first, R), t_gradient);
  if (kind_ == ReadoutKind::kLinear) {
    kernels::copy_rows<Real>(t_gradient, input_gradient);
    return;
  }
  if (kind_ == ReadoutKind::kMaxout) {
    kernels::maxout_backward<Real>(sums_.row_range(first, R), t_gradient, sums_gradient);
  } else if (kind_ == ReadoutKind::kTanh) {
    kernels::tanh_backward<Real>(t_.row_range(first, R), t_gradient);
  } else if (kind_ == ReadoutKind::kMlp) {
    if (uses_packed_) {
      kernels::multiply<Real>(t_gradient, W_2_transposed_, sums_gradient);
    } else {
      kernels::multiply_transposed<Real>(t_gradient, weights_.W_2, sums_gradient);
    }
    kernels::relu_backward<Real>(sums_.row_range(first, R), sums_gradient);
  }
  if (uses_packed_) {
    kernels::multiply<Real>(sums_gradient, W_transposed_, input_gradient);
  } else {
    kernels::multiply_transposed<Real>(sums_gradient, weights_.W, input_gradient);
  }
}

template <class Real>
void Readout<Real>::accumulate(const ReadoutInput<Real>& input) {
  if (kind_ == ReadoutKind::kLinear) return;
  std::size_t row = 0;
  for (const auto& block : input) {
    kernels::accumulate_outer<Real>(block, sums_gradient_, gradient_.W.row_range(row, block.cols));
    row += block.cols;
  }
  kernels::add_column_sums<Real>(sums_gradient_, gradient_.b);
  if (kind_ != ReadoutKind::kMlp) return;
  kernels::accumulate_outer<Real>(sums_, t_gradient_, gradient_.W_2);
  kernels::add_column_sums<Real>(t_gradient_, gradient_.b_2);
}

template <class Real>
void Readout<Real>::pack() {
  packed_W_.clear();
  packed_W_2_ = {};
  output_.packed = false;
}

template <class Real>
void Readout<Real>::log_probabilities(MatrixView<Real> log_probabilities, const ShortlistRows<Real>& lists) {
  if (lists.output) return lists.output->log_probabilities(output_input(), lists.sentence, log_probabilities);
  output_log_probabilities<Real>(weights_.output, output_input(), output_, log_probabilities);
}

template <class Real>
void Readout<Real>::top_words(kernels::TopWords<Real>& top, const ShortlistRows<Real>& lists) {
  const auto input = output_input();
  kernels::copy_rows<Real>(input, top_input_.shape(input.rows, input.cols));
  if (lists.output) return lists.output->top_words(input, lists.sentence, top);
  output_top_words<Real>(weights_.output, input, output_, top);
}

template <class Real>
void Readout<Real>::log_probabilities(std::span<const std::uint32_t> row, MatrixView<Real> log_probabilities,
                                      const ShortlistRows<Real>& lists) {
  const auto input = gathered_.shape(row.size(), top_input_.view().cols);
  kernels::gather_rows<Real>(top_input_.view(), row, input);
  if (lists.output) {
    std::vector<std::uint32_t> sentence;
    for (const std::uint32_t i : row) sentence.push_back(lists.sentence[i]);
    return lists.output->log_probabilities(input, sentence, log_probabilities);
  }
  output_log_probabilities<Real>(weights_.output, input, output_, log_probabilities);
}

template class Readout<float>;
template class Readout<double>;

}  // namespace rnnsearch::layers

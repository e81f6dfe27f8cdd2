#include "model/impl.h"

#include <numeric>
#include <utility>

#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {

using kernels::Into;

DecoderStack::DecoderStack(const ModelOptions& options, const std::vector<layers::RecurrentWeights>& weights,
                           const std::vector<layers::RecurrentWeights>& gradient, const Dropout& dropout,
                           const kernels::Scratch& scratch)
    : options_(options),
      weights_(weights),
      gradient_(gradient),
      dropout_(dropout),
      scratch_(scratch),
      widths_(options),
      keeps_current_(options.updates_first()),
      layers_(options.layers) {
  const bool reads_word = options.feedback == Feedback::kWord;
  for (const std::size_t width : {reads_word ? 0 : widths_.state_word, widths_.state_fed,
                                  options.has_fixed_context() ? 0 : widths_.state_context}) {
    if (width > 0) others_.push_back(width);
  }
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    layer.known = k == 0 && reads_word ? widths_.state_word : 0;
    layer.inputs = k == 0 ? std::accumulate(others_.begin(), others_.end(), std::size_t{0}) : options.state;
    layer.cell = layers::make_cell(widths_.decoder_cell, weights[k].cell, gradient[k].cell);
  }
}

void DecoderStack::pack(kernels::Scratch::Frame& frame) {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    const Matrix& W_in = weights_[k].W_in;
    layer.cell->pack(frame);
    layer.W_in.clear();
    std::size_t row = layer.known;
    for (const std::size_t width : k == 0 ? others_ : std::vector<std::size_t>{layer.inputs}) {
      layer.W_in.emplace_back().pack(W_in.row_range(row, width), &frame);
      row += width;
    }
    if (k > 0) continue;
    if (layer.known > 0) W_word_.pack(W_in.row_range(0, layer.known), &frame);
    if (row < W_in.rows) W_contexts_.pack(W_in.row_range(row, W_in.rows - row), &frame);
  }
}

void DecoderStack::begin(std::size_t Y, std::size_t widest, kernels::Scratch::Frame& frame) {
  widest_ = widest;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    layer.x.shape(Y, weights_[k].W_in.cols);
    if (k > 0) layer.input.shape(Y, layer.inputs);
    layer.previous.shape(Y, widths_.cell_state);
    layer.current.shape(keeps_current_ ? Y : widest, widths_.cell_state);
    layer.cell->begin(Y, widest, frame, dropout_.mask(Activations::kDecoderState, k));
  }
}

void DecoderStack::project_words(const layers::RepeatedRows& words, ConstMatrix contexts,
                                 kernels::Scratch::Frame& frame) {
  for (const Layer& layer : layers_) {
    if (layer.known == 0) kernels::zero_rows(layer.x.view());
  }
  const auto x = layers_[0].x.view();
  of_contexts_ = frame.matrix(contexts.rows, x.cols);
  if (contexts.rows > 0) kernels::multiply(contexts, W_contexts_, of_contexts_);
  if (layers_[0].known == 0) return;
  kernels::Scratch::Frame inner(scratch_);
  const auto distinct = words.index.empty() ? x : inner.matrix(words.distinct.rows, x.cols);
  kernels::multiply(words.distinct, W_word_, distinct);
  if (!words.index.empty()) kernels::gather_rows(distinct, words.index, x);
}

void DecoderStack::load(ConstMatrix states, std::span<const std::uint32_t> order) {
  const std::size_t S = widths_.cell_state;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const auto from = states.columns(k * S, S);
    const auto previous = layers_[k].previous.view();
    order.empty() ? kernels::copy_rows(from, previous)
                  : kernels::gather_rows(from, order, previous.row_range(0, order.size()));
  }
}
void DecoderStack::store(Matrix states) const {
  const std::size_t S = widths_.cell_state;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    kernels::copy_rows(layers_[k].current.view(), states.columns(k * S, S));
  }
}

void DecoderStack::carry(const layers::Packing& packing, std::size_t t) {
  for (Layer& layer : layers_) {
    kernels::copy_rows(layer.current.view().row_range(keeps_current_ ? packing.first_row[t] : 0, packing.continuing(t)),
                       packing.step(layer.previous.view(), t + 1));
  }
}

void DecoderStack::update(std::size_t first, std::size_t R, std::size_t needed, const Blocks& others) {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    const auto x = layer.x.view().row_range(first, R), sums = x.row_range(0, needed);
    if (k == 0 && of_contexts_.rows > 0) kernels::add(of_contexts_.row_range(0, needed), sums);
    for (std::size_t i = 0; i < layer.W_in.size(); ++i) {
      const ConstMatrix block = k == 0 ? others[i] : layer.input.view().row_range(first, R);
      kernels::multiply(block.row_range(0, needed), layer.W_in[i], sums, Into::kAdd);
    }
    const auto b = weights_[k].b;
    kernels::add_to_rows(b, x.columns(0, b.size()));
    const auto current = layer.current.view().row_range(keeps_current_ ? first : 0, R);
    layer.cell->forward({first, needed, x, layer.previous.view().row_range(first, R), current});
    if (k + 1 == layers_.size()) break;
    const auto above = layers_[k + 1].input.view().row_range(first, R);
    kernels::copy_rows(current.columns(0, options_.state), above);
    kernels::drop(dropout_.mask(Activations::kDecoderOutput, k).rows(first, R), above);
  }
}

void DecoderStack::begin_backward(kernels::Scratch::Frame& frame) {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    layer.input_gradient.shape(widest_, layer.inputs);
    layer.previous_gradient.shape(widest_, widths_.cell_state);
    layer.current_gradient.shape(widest_, widths_.cell_state);
    layer.W_in.resize(1);
    layer.W_in[0].pack_transposed(weights_[k].W_in.row_range(layer.known, layer.inputs), &frame);
    layer.cell->begin_backward(frame);
  }
}

void DecoderStack::begin_step_backward(std::size_t R, std::size_t continuing) {
  rows_ = R;
  for (Layer& layer : layers_) {
    std::swap(layer.previous_gradient, layer.current_gradient);
    kernels::zero_rows(layer.current_gradient.view().row_range(continuing, R - continuing));
    kernels::zero_rows(layer.previous_gradient.view().row_range(0, R));
  }
}

void DecoderStack::update_backward(std::size_t first, std::size_t needed) {
  const std::size_t R = rows_;
  for (std::size_t k = layers_.size(); k-- > 0;) {
    Layer& layer = layers_[k];
    const auto x = layer.x.view().row_range(first, R);  // its gradient takes its place
    layer.cell->backward({first, needed, x, layer.previous.view().row_range(first, R), {}},
                         layer.current_gradient.view().row_range(0, R), layer.previous_gradient.view().row_range(0, R));
    const auto in = layer.input_gradient.view().row_range(0, needed);
    if (in.cols > 0) kernels::multiply(x.row_range(0, needed), layer.W_in[0], in);
    kernels::zero_rows(layer.input_gradient.view().row_range(needed, R - needed));
    if (k == 0) break;
    kernels::drop(dropout_.mask(Activations::kDecoderOutput, k - 1).rows(first, needed), in);
    kernels::add(in, top(layers_[k - 1].current_gradient, 0, needed));
  }
}

void DecoderStack::accumulate(const layers::RepeatedRows& words, ConstMatrix contexts, const Blocks& others,
                              const layers::Packing& packing, Matrix words_gradient, Matrix contexts_gradient,
                              kernels::Scratch::Frame& frame) {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    const auto x_gradient = layer.x.view();
    const auto& to = gradient_[k];
    layer.cell->accumulate(layer.previous.view(), x_gradient);
    std::size_t row = layer.known;
    for (const auto& block : k == 0 ? others : Blocks{layer.input.view()}) {
      kernels::accumulate_outer(block, x_gradient, to.W_in.row_range(row, block.cols));
      row += block.cols;
    }
    kernels::add_column_sums(x_gradient.columns(0, to.b.size()), to.b);
  }
  const auto x_gradient = layers_[0].x.view();
  const auto& W_in = weights_[0].W_in;
  if (const std::size_t word = layers_[0].known; word > 0) {
    const auto sums = layers::add_repeated(words, x_gradient, frame);
    kernels::accumulate_outer(words.distinct, sums, gradient_[0].W_in.row_range(0, word));
    kernels::multiply_transposed(sums, W_in.row_range(0, word), words_gradient);
  }
  if (contexts.rows == 0) return;
  const auto sums = frame.zeros(contexts.rows, x_gradient.cols);
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    kernels::add(packing.step(x_gradient, t), sums.row_range(0, packing.active[t]));
  }
  const std::size_t row = W_in.rows - contexts.cols;
  kernels::accumulate_outer(contexts, sums, gradient_[0].W_in.row_range(row, contexts.cols));
  kernels::multiply_transposed(sums, W_in.row_range(row, contexts.cols), contexts_gradient, Into::kAdd);
}

std::vector<Matrix> DecoderStack::initial_gradients() const {
  std::vector<Matrix> gradients;
  for (const Layer& layer : layers_) gradients.push_back(layer.previous_gradient.view().row_range(0, rows_));
  return gradients;
}

}  // namespace rnnsearch::model

#include "model/decoder_stack.h"

#include <numeric>
#include <utility>

#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {

using kernels::Into;

template <class Real>
DecoderStack<Real>::DecoderStack(const ModelOptions& options,
                                 const std::vector<layers::RecurrentWeights<Real>>& weights,
                                 const std::vector<layers::RecurrentWeights<Real>>& gradient, const Dropout& dropout,
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
    layer.cell = layers::make_cell<Real>(widths_.decoder_cell, weights[k].cell, gradient[k].cell);
  }
}

template <class Real>
void DecoderStack<Real>::pack(kernels::Scratch::Frame& frame) {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    const MatrixView<Real>& W_in = weights_[k].W_in;
    layer.cell->pack(frame);
    layer.W_in.clear();
    std::size_t row = layer.known;
    for (const std::size_t width : k == 0 ? others_ : std::vector<std::size_t>{layer.inputs}) {
      layer.W_in.emplace_back().pack(W_in.row_range(row, width), frame);
      row += width;
    }
    if (k > 0) continue;
    if (layer.known > 0) W_word_.pack(W_in.row_range(0, layer.known), frame);
    if (row < W_in.rows) W_contexts_.pack(W_in.row_range(row, W_in.rows - row), frame);
  }
}

template <class Real>
void DecoderStack<Real>::begin(std::size_t Y, std::size_t widest, kernels::Scratch::Frame& frame) {
  widest_ = widest;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    layer.x.shape(Y, weights_[k].W_in.cols);
    if (k > 0) layer.input.shape(Y, layer.inputs);
    layer.previous.shape(Y, widths_.cell_state);
    layer.current.shape(keeps_current_ ? Y : widest, widths_.cell_state);
    layer.cell->begin(Y, widest, frame, dropout_.mask(Place::kDecoderState, k));
  }
}

template <class Real>
void DecoderStack<Real>::multiply_known(const layers::RepeatedRows<Real>& words, ConstMatrixView<Real> contexts,
                                        kernels::Scratch::Frame& frame) {
  for (const Layer& layer : layers_) {
    if (layer.known == 0) kernels::zero_rows<Real>(layer.x.view());
  }
  const auto x = layers_[0].x.view();
  of_contexts_ = frame.template matrix<Real>(contexts.rows, x.cols);
  if (contexts.rows > 0) kernels::multiply<Real>(contexts, W_contexts_, of_contexts_);
  if (layers_[0].known == 0) return;
  kernels::Scratch::Frame inner(scratch_);
  const auto distinct = words.place.empty() ? x : inner.template matrix<Real>(words.distinct.rows, x.cols);
  kernels::multiply<Real>(words.distinct, W_word_, distinct);
  if (!words.place.empty()) kernels::gather_rows<Real>(distinct, words.place, x);
}

template <class Real>
void DecoderStack<Real>::load(ConstMatrixView<Real> states, std::span<const std::uint32_t> order) {
  const std::size_t S = widths_.cell_state;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    kernels::gather_rows<Real>(states.columns(k * S, S), order, layers_[k].previous.view().row_range(0, order.size()));
  }
}
template <class Real>
void DecoderStack<Real>::load(ConstMatrixView<Real> states) {
  const std::size_t S = widths_.cell_state;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    kernels::copy_rows<Real>(states.columns(k * S, S), layers_[k].previous.view());
  }
}
template <class Real>
void DecoderStack<Real>::store(MatrixView<Real> states) const {
  const std::size_t S = widths_.cell_state;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    kernels::copy_rows<Real>(layers_[k].current.view(), states.columns(k * S, S));
  }
}

template <class Real>
void DecoderStack<Real>::carry(const layers::Packing& packing, std::size_t t) {
  for (Layer& layer : layers_) {
    kernels::copy_rows<Real>(
        layer.current.view().row_range(keeps_current_ ? packing.first_row[t] : 0, packing.continuing(t)),
        packing.step(layer.previous.view(), t + 1));
  }
}

template <class Real>
void DecoderStack<Real>::update(std::size_t first, std::size_t R, std::size_t needed, const Blocks& others) {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    const auto x = layer.x.view().row_range(first, R), sums = x.row_range(0, needed);
    if (k == 0 && of_contexts_.rows > 0) kernels::add<Real>(of_contexts_.row_range(0, needed), sums);
    for (std::size_t i = 0; i < layer.W_in.size(); ++i) {
      const ConstMatrixView<Real> block = k == 0 ? others[i] : layer.input.view().row_range(first, R);
      kernels::multiply<Real>(block.row_range(0, needed), layer.W_in[i], sums, Into::kAdd);
    }
    const auto b = weights_[k].b;
    kernels::add_to_rows<Real>(b, x.columns(0, b.size()));
    const auto current = layer.current.view().row_range(keeps_current_ ? first : 0, R);
    layer.cell->forward({first, needed, x, layer.previous.view().row_range(first, R), current});
    if (k + 1 == layers_.size()) break;
    const auto above = layers_[k + 1].input.view().row_range(first, R);
    kernels::copy_rows<Real>(current.columns(0, options_.state), above);
    kernels::drop<Real>(dropout_.mask(Place::kDecoderOutput, k).rows(first, R), above);
  }
}

template <class Real>
void DecoderStack<Real>::begin_backward(kernels::Scratch::Frame& frame) {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    layer.input_gradient.shape(widest_, layer.inputs);
    layer.previous_gradient.shape(widest_, widths_.cell_state);
    layer.current_gradient.shape(widest_, widths_.cell_state);
    layer.W_in.resize(1);
    layer.W_in[0].pack_transposed(weights_[k].W_in.row_range(layer.known, layer.inputs), frame);
    layer.cell->begin_backward(frame);
  }
}

template <class Real>
void DecoderStack<Real>::begin_step_backward(std::size_t R, std::size_t continuing) {
  rows_ = R;
  for (Layer& layer : layers_) {
    std::swap(layer.previous_gradient, layer.current_gradient);
    kernels::zero_rows<Real>(layer.current_gradient.view().row_range(continuing, R - continuing));
    kernels::zero_rows<Real>(layer.previous_gradient.view().row_range(0, R));
  }
}

template <class Real>
void DecoderStack<Real>::update_backward(std::size_t first, std::size_t needed) {
  const std::size_t R = rows_;
  for (std::size_t k = layers_.size(); k-- > 0;) {
    Layer& layer = layers_[k];
    const auto x = layer.x.view().row_range(first, R);  // its gradient takes its place
    layer.cell->backward({first, needed, x, layer.previous.view().row_range(first, R), {}},
                         layer.current_gradient.view().row_range(0, R), layer.previous_gradient.view().row_range(0, R));
    const auto in = layer.input_gradient.view().row_range(0, needed);
    if (in.cols > 0) kernels::multiply<Real>(x.row_range(0, needed), layer.W_in[0], in);
    kernels::zero_rows<Real>(layer.input_gradient.view().row_range(needed, R - needed));
    if (k == 0) break;
    kernels::drop<Real>(dropout_.mask(Place::kDecoderOutput, k - 1).rows(first, needed), in);
    kernels::add<Real>(in, top(layers_[k - 1].current_gradient, 0, needed));
  }
}

template <class Real>
void DecoderStack<Real>::accumulate(const layers::RepeatedRows<Real>& words, ConstMatrixView<Real> contexts,
                                    const Blocks& others, const layers::Packing& packing,
                                    MatrixView<Real> words_gradient, MatrixView<Real> contexts_gradient,
                                    kernels::Scratch::Frame& frame) {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    const auto x_gradient = layer.x.view();
    const auto& to = gradient_[k];
    layer.cell->accumulate(layer.previous.view(), x_gradient);
    std::size_t row = layer.known;
    for (const auto& block : k == 0 ? others : Blocks{layer.input.view()}) {
      kernels::accumulate_outer<Real>(block, x_gradient, to.W_in.row_range(row, block.cols));
      row += block.cols;
    }
    kernels::add_column_sums<Real>(x_gradient.columns(0, to.b.size()), to.b);
  }
  const auto x_gradient = layers_[0].x.view();
  const auto& W_in = weights_[0].W_in;
  if (const std::size_t word = layers_[0].known; word > 0) {
    const auto sums = layers::add_repeated<Real>(words, x_gradient, frame);
    kernels::accumulate_outer<Real>(words.distinct, sums, gradient_[0].W_in.row_range(0, word));
    kernels::multiply_transposed<Real>(sums, W_in.row_range(0, word), words_gradient);
  }
  if (contexts.rows == 0) return;
  const auto sums = frame.template zeros<Real>(contexts.rows, x_gradient.cols);
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    kernels::add<Real>(packing.step(x_gradient, t), sums.row_range(0, packing.active[t]));
  }
  const std::size_t row = W_in.rows - contexts.cols;
  kernels::accumulate_outer<Real>(contexts, sums, gradient_[0].W_in.row_range(row, contexts.cols));
  kernels::multiply_transposed<Real>(sums, W_in.row_range(row, contexts.cols), contexts_gradient, Into::kAdd);
}

template <class Real>
std::vector<MatrixView<Real>> DecoderStack<Real>::initial_gradients() const {
  std::vector<MatrixView<Real>> gradients;
  for (const Layer& layer : layers_) gradients.push_back(layer.previous_gradient.view().row_range(0, rows_));
  return gradients;
}

template class DecoderStack<float>;
template class DecoderStack<double>;

}  // namespace rnnsearch::model

#include "model/decoder_stack.h"

#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {

using kernels::Into;

template <class Real>
DecoderStack<Real>::DecoderStack(const ModelOptions& options,
                                 const std::vector<layers::RecurrentWeights<Real>>& weights,
                                 const std::vector<layers::RecurrentWeights<Real>>& gradient, const Dropout& dropout)
    : options_(options), weights_(weights), gradient_(gradient), dropout_(dropout), layers_(options.layers) {
  const Widths widths(options);
  known_ = options.feedback == Feedback::kWord ? widths.state_word : 0;
  state_width_ = widths.cell_state;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    layers_[k].cell = layers::make_cell<Real>(widths.decoder_cell, weights[k].cell, gradient[k].cell);
  }
}

template <class Real>
void DecoderStack<Real>::begin(std::size_t Y, std::size_t widest, kernels::Scratch::Frame& frame) {
  const bool pack = !packed_;
  if (pack) packed_.emplace(packed_memory_);
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    const MatrixView<Real>& W_in = weights_[k].W_in;
    layer.input.shape(Y, W_in.rows);
    layer.x.shape(Y, W_in.cols);
    layer.previous.shape(Y, state_width_);
    layer.current.shape(Y, state_width_);
    layer.cell->begin(Y, widest, frame, dropout_.mask(Place::kDecoderState, k));
    if (!pack) continue;
    layer.cell->pack(*packed_);
    if (W_in.rows > known(k)) layer.W_in.pack(W_in.row_range(known(k), W_in.rows - known(k)), *packed_);
  }
}

template <class Real>
void DecoderStack<Real>::load(ConstMatrixView<Real> states, std::span<const std::uint32_t> order) {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    kernels::gather_rows<Real>(states.columns(k * state_width_, state_width_), order,
                               layers_[k].previous.view().row_range(0, order.size()));
  }
}
template <class Real>
void DecoderStack<Real>::load(ConstMatrixView<Real> states) {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    kernels::copy_rows<Real>(states.columns(k * state_width_, state_width_), layers_[k].previous.view());
  }
}
template <class Real>
void DecoderStack<Real>::store(MatrixView<Real> states) const {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    kernels::copy_rows<Real>(layers_[k].current.view(), states.columns(k * state_width_, state_width_));
  }
}

template <class Real>
void DecoderStack<Real>::carry(const layers::Packing& packing, std::size_t t) {
  for (Layer& layer : layers_) {
    kernels::copy_rows<Real>(packing.step(layer.current.view(), t, packing.continuing(t)),
                             packing.step(layer.previous.view(), t + 1));
  }
}
template <class Real>
void DecoderStack<Real>::carry_backward(const layers::Packing& packing, std::size_t t) {
  for (Layer& layer : layers_) {
    kernels::copy_rows<Real>(packing.step(layer.previous_gradient.view(), t + 1),
                             packing.step(layer.current_gradient.view(), t, packing.continuing(t)));
  }
}

template <class Real>
void DecoderStack<Real>::multiply_known() {
  if (known_ == 0) return;
  kernels::multiply<Real>(input().columns(0, known_), weights_[0].W_in.row_range(0, known_), layers_[0].x.view());
}

template <class Real>
void DecoderStack<Real>::update(std::size_t first, std::size_t R) {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    const auto x = layer.x.view().row_range(first, R), in = layer.input.view().row_range(first, R);
    if (in.cols > known(k)) {
      kernels::multiply<Real>(in.columns(known(k), in.cols - known(k)), layer.W_in, x,
                              known(k) > 0 ? Into::kAdd : Into::kOverwrite);
    } else if (in.cols == 0) {  // state-inputs = none
      kernels::zero_rows<Real>(x);
    }
    const auto b = weights_[k].b;
    kernels::add_to_rows<Real>(b, x.columns(0, b.size()));
    layer.cell->forward(
        {first, R, x, layer.previous.view().row_range(first, R), layer.current.view().row_range(first, R)});
    if (k + 1 == layers_.size()) break;
    const auto above = layers_[k + 1].input.view().row_range(first, R);
    kernels::copy_rows<Real>(top(layer.current, first, R), above);
    kernels::drop<Real>(dropout_.mask(Place::kDecoderOutput, k).rows(first, R), above);
  }
}

template <class Real>
void DecoderStack<Real>::begin_backward(kernels::Scratch::Frame& frame) {
  unpack();
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    const MatrixView<Real>& W_in = weights_[k].W_in;
    const std::size_t Y = layer.x.view().rows;
    layer.input_gradient.shape(Y, W_in.rows);
    layer.previous_gradient.zeros(Y, state_width_);
    layer.current_gradient.zeros(Y, state_width_);
    if (W_in.rows > known(k)) layer.W_in.pack_transposed(W_in.row_range(known(k), W_in.rows - known(k)), frame);
    layer.cell->begin_backward(frame);
  }
}

template <class Real>
void DecoderStack<Real>::update_backward(std::size_t first, std::size_t R) {
  for (std::size_t k = layers_.size(); k-- > 0;) {
    Layer& layer = layers_[k];
    const auto x = layer.x.view().row_range(first, R);  // its gradient takes its place
    layer.cell->backward(
        {first, R, x, layer.previous.view().row_range(first, R), layer.current.view().row_range(first, R)},
        layer.current_gradient.view().row_range(first, R), layer.previous_gradient.view().row_range(first, R));
    const auto in = layer.input_gradient.view().row_range(first, R);
    if (in.cols > known(k)) kernels::multiply<Real>(x, layer.W_in, in.columns(known(k), in.cols - known(k)));
    if (k == 0) break;
    kernels::drop<Real>(dropout_.mask(Place::kDecoderOutput, k - 1).rows(first, R), in);
    kernels::add<Real>(in, top(layers_[k - 1].current_gradient, first, R));
  }
}

template <class Real>
void DecoderStack<Real>::accumulate() {
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    const auto x_gradient = layer.x.view();
    const auto& of = gradient_[k];
    layer.cell->accumulate(layer.previous.view(), x_gradient);
    kernels::accumulate_outer<Real>(layer.input.view(), x_gradient, of.W_in);
    kernels::add_column_sums<Real>(x_gradient.columns(0, of.b.size()), of.b);
  }
  if (known_ == 0) return;
  kernels::multiply_transposed<Real>(layers_[0].x.view(), weights_[0].W_in.row_range(0, known_),
                                     input_gradient().columns(0, known_));
}

template <class Real>
std::vector<MatrixView<Real>> DecoderStack<Real>::previous_gradients() const {
  std::vector<MatrixView<Real>> gradients;
  for (const Layer& layer : layers_) gradients.push_back(layer.previous_gradient.view());
  return gradients;
}

template class DecoderStack<float>;
template class DecoderStack<double>;

}  // namespace rnnsearch::model

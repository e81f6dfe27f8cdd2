#include "model/initial_states.h"

#include "model/network.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {

template <class Real>
InitialStates<Real>::InitialStates(const ModelOptions& options, const InitialStateWeights<Real>& weights,
                                   const InitialStateWeights<Real>& gradient)
    : options_(options), weights_(weights), gradient_(gradient), state_width_(Widths(options).cell_state) {}

// The input of the projection to s_0 of layer k.
template <class Real>
ConstMatrixView<Real> InitialStates<Real>::projected(const SourceEncoder<Real>& encoder, const Encoded<Real>& encoded,
                                                     std::size_t k) const {
  if (options_.has_fixed_context()) return view_of(encoded.contexts, options_.context_width());
  return encoder.first(k).columns(0, options_.encoder_width());
}

template <class Real>
void InitialStates<Real>::forward(const SourceEncoder<Real>& encoder, Encoded<Real>& encoded) const {
  const std::size_t B = encoded.sentences(), S = state_width_;
  if (options_.has_fixed_context()) {
    const auto contexts = view_of(encoded.contexts, B, options_.context_width());
    if (has_summary()) {
      tanh_layer_forward<Real>(weights_.summary, encoder.ends(), contexts);
    } else {
      kernels::copy_rows<Real>(encoder.ends(), contexts);
    }
  }
  const auto states = view_of(encoded.initial_states, B, options_.layers * S);
  kernels::zero_rows<Real>(states);
  for (std::size_t k = 0; k < options_.layers && options_.initial_state != InitialState::kZero; ++k) {
    const auto state = states.columns(k * S, S);
    if (projects()) {
      tanh_layer_forward<Real>(weights_.layers[k], projected(encoder, encoded, k), state.columns(0, options_.state));
    } else {
      kernels::copy_rows<Real>(encoder.first(k), state);
    }
  }
}

template <class Real>
EncoderGradients<Real> InitialStates<Real>::backward(const SourceEncoder<Real>& encoder, const Encoded<Real>& encoded,
                                                     const layers::Packing& target,
                                                     const std::vector<MatrixView<Real>>& states,
                                                     ConstMatrixView<Real> contexts,
                                                     kernels::Scratch::Frame& frame) const {
  const std::size_t B = encoded.sentences(), S = state_width_, n = options_.state;
  const bool fixed = options_.has_fixed_context();
  EncoderGradients<Real> gradients;
  const auto context_gradient = frame.template zeros<Real>(fixed ? B : 0, options_.context_width());
  for (std::size_t t = 0; t < target.steps() && fixed; ++t) {  // c is an input of every step of its sentence
    kernels::scatter_add_rows<Real>(target.step(contexts, t), std::span(target.order).first(target.active[t]),
                                    context_gradient);
  }
  for (std::size_t k = 0; k < options_.layers && options_.initial_state != InitialState::kZero; ++k) {
    const auto state = frame.template zeros<Real>(B, S);
    kernels::scatter_add_rows<Real>(states[k].row_range(0, B), target.order, state);
    if (!projects()) {
      gradients.first.push_back(state);
      continue;
    }
    const auto from = projected(encoder, encoded, k);
    const auto from_gradient = frame.template matrix<Real>(B, from.cols);
    tanh_layer_backward<Real>(weights_.layers[k], gradient_.layers[k], from,
                              view_of(encoded.initial_states, options_.layers * S).columns(k * S, n),
                              state.columns(0, n), from_gradient);
    if (fixed) {
      kernels::add<Real>(from_gradient, context_gradient);
    } else {
      gradients.first.push_back(from_gradient);
    }
  }
  gradients.ends = context_gradient;
  if (has_summary()) {
    gradients.ends = frame.template matrix<Real>(B, options_.annotation_width());
    tanh_layer_backward<Real>(weights_.summary, gradient_.summary, encoder.ends(),
                              view_of(encoded.contexts, options_.context_width()), context_gradient, gradients.ends);
  }
  return gradients;
}

template class InitialStates<float>;
template class InitialStates<double>;

}  // namespace rnnsearch::model

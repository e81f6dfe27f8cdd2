#include "model/initial_states.h"

#include "model/impl.h"
#include "rnnsearch/kernels/cells.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {
namespace {

void tanh_layer_forward(const TanhWeights& weights, ConstMatrix input, Matrix output) {
  kernels::multiply(input, weights.W, output);
  kernels::add_to_rows(weights.b, output);
  kernels::tanh_forward(output);
}

// ADDS to `gradient`, writes input_gradient, and overwrites output_gradient.
void tanh_layer_backward(const TanhWeights& weights, const TanhWeights& gradient, ConstMatrix input, ConstMatrix output,
                         Matrix output_gradient, Matrix input_gradient) {
  kernels::tanh_backward({output, output_gradient});
  kernels::accumulate_outer(input, output_gradient, gradient.W);
  kernels::add_column_sums(output_gradient, gradient.b);
  kernels::multiply_transposed(output_gradient, weights.W, input_gradient);
}

}  // namespace

InitialStates::InitialStates(const ModelOptions& options, const InitialStateWeights& weights,
                             const InitialStateWeights& gradient)
    : options_(options), weights_(weights), gradient_(gradient), state_width_(Widths(options).cell_state) {}

// The input of the projection to s_0 of layer k.
ConstMatrix InitialStates::projected(const SourceEncoder& encoder, const Encoded& encoded, std::size_t k) const {
  if (options_.has_fixed_context()) return encoded.contexts.view();
  return encoder.first(k).columns(0, options_.encoder_width());
}

void InitialStates::forward(const SourceEncoder& encoder, Encoded& encoded) const {
  const std::size_t B = encoded.sentences(), S = state_width_;
  if (options_.has_fixed_context()) {
    const auto contexts = encoded.contexts.shape(B, options_.context_width());
    if (has_summary()) {
      tanh_layer_forward(weights_.summary, encoder.ends(), contexts);
    } else {
      kernels::copy_rows(encoder.ends(), contexts);
    }
  }
  const auto states = encoded.initial_states.shape(B, options_.layers * S);
  kernels::zero_rows(states);
  for (std::size_t k = 0; k < options_.layers && options_.initial_state != InitialState::kZero; ++k) {
    const auto state = states.columns(k * S, S);
    if (projects()) {
      tanh_layer_forward(weights_.layers[k], projected(encoder, encoded, k), state.columns(0, options_.state));
    } else {
      kernels::copy_rows(encoder.first(k), state);
    }
  }
}

EncoderGradients InitialStates::backward(const SourceEncoder& encoder, const Encoded& encoded,
                                         const layers::Packing& target, const std::vector<Matrix>& states,
                                         ConstMatrix contexts, kernels::Scratch::Frame& frame) const {
  const std::size_t B = encoded.sentences(), S = state_width_, n = options_.state;
  const bool fixed = options_.has_fixed_context();
  EncoderGradients gradients;
  const auto context_gradient = frame.zeros(fixed ? B : 0, options_.context_width());
  for (std::size_t t = 0; t < target.steps() && fixed; ++t) {  // c is an input of every step of its sentence
    kernels::scatter_add_rows(target.step(contexts, t), std::span(target.order).first(target.active[t]),
                              context_gradient);
  }
  for (std::size_t k = 0; k < options_.layers && options_.initial_state != InitialState::kZero; ++k) {
    const auto state = frame.zeros(B, S);
    kernels::scatter_add_rows(states[k].row_range(0, B), target.order, state);
    if (!projects()) {
      gradients.first.push_back(state);
      continue;
    }
    const auto from = projected(encoder, encoded, k);
    const auto from_gradient = frame.matrix(B, from.cols);
    tanh_layer_backward(weights_.layers[k], gradient_.layers[k], from, encoded.initial_states.view().columns(k * S, n),
                        state.columns(0, n), from_gradient);
    if (fixed) {
      kernels::add(from_gradient, context_gradient);
    } else {
      gradients.first.push_back(from_gradient);
    }
  }
  gradients.ends = context_gradient;
  if (has_summary()) {
    gradients.ends = frame.matrix(B, options_.annotation_width());
    tanh_layer_backward(weights_.summary, gradient_.summary, encoder.ends(), encoded.contexts.view(), context_gradient,
                        gradients.ends);
  }
  return gradients;
}

}  // namespace rnnsearch::model

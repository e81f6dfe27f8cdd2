#include "model/impl.h"

#include <numeric>

#include "rnnsearch/kernels/cells.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {
namespace {

using layers::Direction;

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

Sentences with_start_symbols(const Sentences& source) {
  Sentences started;
  for (std::size_t b = 0; b < source.size(); ++b) {
    started.words.push_back(kStart);
    started.add(source[b]);
  }
  return started;
}

}  // namespace

void SourceRows::lay_out(const Sentences& source, const ModelOptions& options, std::vector<std::size_t>& offsets) {
  const std::size_t B = source.size();
  const bool with_start = options.source_start;
  std::vector<std::size_t> lengths(B);
  for (std::size_t b = 0; b < B; ++b) lengths[b] = options.source_length(source.length(b));
  offsets.assign(B + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
  if (with_start) {
    for (std::size_t& length : lengths) ++length;
  }
  packing = layers::Packing(lengths);
  const Sentences reversed = options.reverse_source ? with_last_word_first(source) : Sentences();
  const Sentences& read = options.reverse_source ? reversed : source;
  words = layers::pack_words(packing, with_start ? with_start_symbols(read) : read);
  packed_row.resize(with_start ? 0 : packing.words());
  encoded_row.resize(packed_row.size());
  first_word_row.resize(B);
  last_word_row.resize(B);
  packing.for_each_row([&](std::size_t packed, std::size_t b, std::size_t t) {
    if (!with_start) {
      const std::size_t row = offsets[b] + position_of_step(t, source.length(b), options.reverse_source);
      packed_row[row] = static_cast<std::uint32_t>(packed);
      encoded_row[packed] = static_cast<std::uint32_t>(row);
    }
    if (t == 0) first_word_row[b] = static_cast<std::uint32_t>(packed);
    if (t + 1 == lengths[b]) last_word_row[b] = static_cast<std::uint32_t>(packed);
  });
}

SourceEncoder::SourceEncoder(const ModelOptions& options, const EncoderWeights& weights, const EncoderWeights& gradient,
                             const layers::EmbeddingTable& words, Dropout& dropout, const kernels::Scratch& memory)
    : options_(options), words_(words), dropout_(dropout), memory_(memory), layers_(options.layers) {
  const layers::CellKind kind = Widths(options).encoder_cell;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    for (std::size_t d = 0; d < directions(); ++d) {
      layers_[k].directions[d] = std::make_unique<layers::RecurrentLayer>(
          kind, options.encoder_width(), d == 0 ? Direction::kForward : Direction::kBackward, weights.layers[k][d],
          gradient.layers[k][d], memory);
    }
  }
}

// Whether the annotations are the states of this layer.
bool SourceEncoder::holds_states(std::size_t k) const {
  return options_.attends() && is_top(k) && layers_[k].directions[0]->state_width() == options_.encoder_width();
}

// The direction whose state the decoder begins from.
std::size_t SourceEncoder::first_direction() const {
  if (options_.initial_state == InitialState::kProjected) return directions() - 1;
  return options_.initial_state == InitialState::kBackward ? 1 : 0;
}

layers::RepeatedRows SourceEncoder::embedded(kernels::Scratch::Frame& frame) const {
  const auto words = frame.matrix(distinct_.words.size(), options_.embedding);
  words_.forward(distinct_.words, words);
  kernels::drop(dropout_.mask(Activations::kSourceWord), words);
  kernels::drop_rows(dropout_.mask_of_words(Activations::kWholeSourceWord, rows_.words), words);
  return {words, distinct_.repeats()};
}

void SourceEncoder::forward(const Sentences& source, Encoded& encoded, PhaseTimes& phases) {
  PhaseTimes::Scope scope(&phases, Phase::kPacking);
  check_words(source, options_.source_words, "source");
  rows_.lay_out(source, options_, encoded.offsets);
  dropout_.lay_out_source(rows_.packing);
  const bool drops = dropout_.mask(Activations::kSourceWord).drops() ||
                     dropout_.mask_of_words(Activations::kWholeSourceWord, rows_.words).drops();
  distinct_ = drops ? layers::DistinctWords::each(rows_.words) : layers::DistinctWords(rows_.words);
  const std::size_t B = source.size(), X = rows_.packing.words(), e = options_.encoder_width();
  const std::size_t width = options_.annotation_width();
  const auto annotations = encoded.annotations.shape(options_.attends() ? X : 0, width);
  if (options_.has_fixed_context()) ends_.shape(B, width);

  scope.change(Phase::kEmbedding);
  kernels::Scratch::Frame frame(memory_);
  layers::RepeatedRows input = embedded(frame);
  scope.change(Phase::kEncoder);
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    Layer& layer = layers_[k];
    const auto output = is_top(k) ? Matrix() : layer.output.shape(X, width);
    for (std::size_t d = 0; d < directions(); ++d) {
      const std::size_t S = layer.directions[d]->state_width();
      const auto states = holds_states(k) ? frame.matrix(X, S) : layer.states[d].shape(X, S);
      layer.directions[d]->forward(rows_.packing, input, states, dropout_.mask(Activations::kEncoderState, 2 * k + d));
      const auto outputs = states.columns(0, e);
      if (d == first_direction()) kernels::gather_rows(states, last_rows(d), layer.first.shape(B, S));
      if (!is_top(k)) {
        kernels::copy_rows(outputs, output.columns(d * e, e));
      } else if (options_.attends()) {
        kernels::gather_rows(outputs, rows_.packed_row, annotations.columns(d * e, e));
      } else if (options_.has_fixed_context()) {
        kernels::gather_rows(outputs, last_rows(d), ends().columns(d * e, e));
      }
    }
    if (!is_top(k)) kernels::drop(dropout_.mask(Activations::kEncoderOutput, k), output);
    input = {output};
  }
}

void SourceEncoder::backward(const Encoded& encoded, const EncoderGradients& gradients, PhaseTimes& phases,
                             const EncoderProgress& progress) {
  const std::size_t X = rows_.packing.words(), e = options_.encoder_width(), width = options_.annotation_width();
  kernels::Scratch::Frame frame(memory_);
  PhaseTimes::Scope scope(&phases, Phase::kEncoder);
  const auto embedded_words = embedded(frame);
  const auto words_gradient = frame.zeros(distinct_.words.size(), options_.embedding);
  Matrix output_gradient;  // of a layer's output, from the layer above
  for (std::size_t k = layers_.size(); k-- > 0;) {
    Layer& layer = layers_[k];
    const auto input = k == 0 ? embedded_words : layers::RepeatedRows{layers_[k - 1].output.view()};
    const auto input_gradient = k == 0 ? words_gradient : frame.zeros(X, width);
    kernels::Scratch::Frame inner(memory_);
    for (std::size_t d = 0; d < directions(); ++d) {
      const auto gradient = inner.zeros(X, layer.directions[d]->state_width());
      const auto outputs_gradient = gradient.columns(0, e);
      if (is_top(k) && options_.attends()) {
        kernels::gather_rows(gradients.annotations.columns(d * e, e), rows_.encoded_row, outputs_gradient);
      }
      if (d == first_direction() && !gradients.first.empty()) {
        const auto& first = gradients.first[k];
        kernels::scatter_add_rows(first, last_rows(d), gradient.columns(0, first.cols));
      }
      if (!is_top(k)) {
        kernels::add(output_gradient.columns(d * e, e), outputs_gradient);
      } else if (gradients.ends.rows > 0) {
        kernels::scatter_add_rows(gradients.ends.columns(d * e, e), last_rows(d), outputs_gradient);
      }
      Matrix states = layer.states[d].view();
      if (holds_states(k)) {
        states = inner.matrix(X, e);
        kernels::gather_rows(encoded.annotations.view().columns(d * e, e), rows_.encoded_row, states);
      }
      layer.directions[d]->backward(rows_.packing, input, states, gradient, input_gradient, inner);
    }
    if (k == 0) {  // before the weights, because the embeddings take longest to be summed over all ranks
      scope.change(Phase::kEmbedding);
      kernels::drop(dropout_.mask(Activations::kSourceWord), words_gradient);
      kernels::drop_rows(dropout_.mask_of_words(Activations::kWholeSourceWord, rows_.words), words_gradient);
      words_.backward(distinct_.words, words_gradient);
      if (progress.words) progress.words();
      scope.change(Phase::kEncoder);
    } else {
      kernels::drop(dropout_.mask(Activations::kEncoderOutput, k - 1), input_gradient);
    }
    for (std::size_t d = 0; d < directions(); ++d) {
      layer.directions[d]->accumulate(input);
      if (k == 0 && d + 1 < directions() && progress.first_direction) progress.first_direction();
    }
    output_gradient = input_gradient;
  }
}

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

#include "rnnsearch/model/model.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <numeric>
#include <utility>

#include "model/initialise.h"
#include "model/weights.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/kernels/gates.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {
namespace {

using kernels::Into;

template <class Real>
void tanh_layer_forward(const TanhWeights<Real>& weights, ConstMatrixView<Real> input, MatrixView<Real> output) {
  kernels::multiply<Real>(input, weights.W, output);
  kernels::add_to_rows<Real>(weights.b, output);
  kernels::tanh_forward<Real>(output);
}

// output_gradient is used up. ADDS to `gradient`; overwrites input_gradient.
template <class Real>
void tanh_layer_backward(const TanhWeights<Real>& weights, const TanhWeights<Real>& gradient,
                         ConstMatrixView<Real> input, ConstMatrixView<Real> output, MatrixView<Real> output_gradient,
                         MatrixView<Real> input_gradient) {
  kernels::tanh_backward<Real>(output, output_gradient);
  kernels::accumulate_outer<Real>(input, output_gradient, gradient.W);
  kernels::add_column_sums<Real>(output_gradient, gradient.b);
  kernels::multiply_transposed<Real>(output_gradient, weights.W, input_gradient);
}

template <class Real>
MatrixView<Real> view_of(std::vector<Real>& values, std::size_t rows, std::size_t cols) {
  values.resize(rows * cols);
  return {values.data(), rows, cols};
}

template <class Real>
ConstMatrixView<Real> view_of(const std::vector<Real>& values, std::size_t cols) {
  return {values.data(), cols == 0 ? 0 : values.size() / cols, cols};
}

}  // namespace

template <class Real>
struct Model<Real>::Implementation {
  ModelOptions options;
  ParameterLayout layout;
  kernels::Buffer<Real> parameter_block, gradient_block;
  Weights<Real> weights, gradient;
  std::array<typename Model<Real>::TableGradient, 2> tables;  // source, target
  std::vector<typename Model<Real>::GradientPart> parts;
  std::size_t parts_finished = 0;  // of the gradient that is being computed
  PhaseTimes phases;

  Encoded<Real> batch;  // the one that is scored or trained on

  // The last batch that was encoded.
  layers::Packing source_packing;
  std::vector<WordId> source_words;
  std::vector<std::uint32_t> packed_row;                     // [source words] the packed row of each row of Encoded
  std::vector<std::uint32_t> encoded_row;                    // its inverse
  std::vector<std::uint32_t> first_word_row, last_word_row;  // [B] packed rows, by the caller's sentence
  kernels::Buffer<Real> source_embedded;
  layers::GatedActivations<Real> forward_encoder, backward_encoder;
  kernels::Buffer<Real> summary_input;  // [B, n] what s_0 is made of (with attention), or what c is made of (without)

  layers::Packing target_packing;
  std::vector<WordId> target_words;
  std::vector<double> losses;
  kernels::Buffer<Real> target_embedded, previous_embedded, initial_states, fixed_context;
  layers::DecoderActivations<Real> decoder;
  layers::ReadoutActivations<Real> readout;

  kernels::Buffer<Real> state_gradient, word_gradient, previous_word_gradient, context_gradient;
  kernels::Buffer<Real> annotations_gradient, keys_gradient, sentence_gradient, initial_gradient, summary_gradient;
  kernels::Buffer<Real> forward_gradient, backward_gradient, source_gradient;

  kernels::Buffer<Real> step_words, step_query, step_alpha, step_x, step_recurrent, step_extra;
  kernels::Buffer<Real> step_z, step_r, step_reset, step_candidate, step_scratch;

  explicit Implementation(const ModelOptions& chosen) : options(chosen) {
    check(options);
    layout = layout_of(options);
    parameter_block.zeros(1, layout.size);
    gradient_block.zeros(1, layout.dense);
    tables[0] = {layout.find("encoder/embedding").offset, {options.source_words, options.embedding}};
    tables[1] = {layout.find("decoder/embedding").offset, {options.target_words, options.embedding}};
    weights = weights_in(options, parameters());
    gradient = weights_in(options, gradients());
    parts = parts_of_gradient();
  }

  // In the order of forward_and_backward, which counts on it.
  std::vector<typename Model<Real>::GradientPart> parts_of_gradient() const {
    const auto offset = [&](const char* name) { return layout.find(name).offset; };
    const std::size_t from_readout = offset("readout/U_o");
    const std::size_t from_decoder = options.embedding_biases ? offset("decoder/embedding_bias") : offset("decoder/W");
    const std::size_t between = attends() ? offset("attention/U_a") : offset("context/V");
    const std::size_t backward = attends() ? offset("encoder/backward/W") : between;
    std::vector<typename Model<Real>::GradientPart> all{{from_readout, layout.dense - from_readout},
                                                        {from_decoder, from_readout - from_decoder},
                                                        {0, 0, 1},
                                                        {between, from_decoder - between}};
    if (attends()) all.push_back({backward, between - backward});
    all.push_back({0, backward});
    all.push_back({0, 0, 0});
    return all;
  }

  std::span<Real> parameters() const { return {parameter_block.view().data, layout.size}; }
  std::span<Real> gradients() const { return {gradient_block.view().data, layout.dense}; }
  bool attends() const { return options.attention == Attention::kAdditive; }
  std::size_t context_width() const { return attends() ? 2 * options.state : options.state; }

  kernels::AttentionMemory<Real> memory_of(const Encoded<Real>& encoded) const {
    return {encoded.offsets, view_of(encoded.annotations, context_width()), view_of(encoded.keys, options.alignment),
            weights.decoder.v_a};
  }

  void check_words(const Sentences& sentences, std::size_t vocabulary, const char* side) const {
    for (const WordId word : sentences.words) {
      if (word >= vocabulary) {
        throw Error(text_of("model: a ", side, " sentence holds word ", word, " but the vocabulary has ", vocabulary,
                            " words"));
      }
    }
  }

  void encode(const Sentences& source, Encoded<Real>& encoded) {
    PhaseTimes::Scope scope(&phases, Phase::kPacking);
    check_words(source, options.source_words, "source");
    const std::size_t B = source.size(), n = options.state;
    const auto lengths = layers::lengths_with_end(source);
    encoded.offsets.assign(B + 1, 0);
    std::partial_sum(lengths.begin(), lengths.end(), encoded.offsets.begin() + 1);
    source_packing = layers::Packing(lengths);
    source_words = layers::pack_words(source_packing, source);
    const std::size_t X = source_packing.words();
    packed_row.resize(X);
    encoded_row.resize(X);
    first_word_row.resize(B);
    last_word_row.resize(B);
    for (std::size_t t = 0; t < source_packing.steps(); ++t) {
      for (std::size_t p = 0; p < source_packing.active[t]; ++p) {
        const std::uint32_t b = source_packing.order[p];
        const std::size_t packed = source_packing.first_row[t] + p, row = encoded.offsets[b] + t;
        packed_row[row] = static_cast<std::uint32_t>(packed);
        encoded_row[packed] = static_cast<std::uint32_t>(row);
        if (t == 0) first_word_row[b] = static_cast<std::uint32_t>(packed);
        if (t + 1 == lengths[b]) last_word_row[b] = static_cast<std::uint32_t>(packed);
      }
    }

    scope.change(Phase::kEmbedding);
    const auto embedded = source_embedded.shape(X, options.embedding);
    layers::embedding_forward<Real>(weights.source_embedding, source_words, embedded);
    scope.change(Phase::kEncoder);
    layers::gated_forward<Real>(weights.forward_encoder, source_packing, layers::Direction::kForward, embedded,
                                forward_encoder);
    const ConstMatrixView<Real> forward_states = forward_encoder.states.view();
    const auto first_states = view_of(encoded.initial_states, B, n);
    const auto summary_states = summary_input.shape(B, n);
    if (attends()) {
      layers::gated_forward<Real>(weights.backward_encoder, source_packing, layers::Direction::kBackward, embedded,
                                  backward_encoder);
      const ConstMatrixView<Real> backward_states = backward_encoder.states.view();
      const auto annotations = view_of(encoded.annotations, X, 2 * n);
      kernels::gather_rows<Real>(forward_states, packed_row, annotations.columns(0, n));
      kernels::gather_rows<Real>(backward_states, packed_row, annotations.columns(n, n));
      kernels::multiply<Real>(annotations, weights.U_a, view_of(encoded.keys, X, options.alignment));
      kernels::gather_rows<Real>(backward_states, first_word_row, summary_states);
      tanh_layer_forward<Real>(weights.initial, summary_states, first_states);
    } else {
      kernels::gather_rows<Real>(forward_states, last_word_row, summary_states);
      const auto contexts = view_of(encoded.contexts, B, n);
      tanh_layer_forward<Real>(weights.summary, summary_states, contexts);
      tanh_layer_forward<Real>(weights.initial, contexts, first_states);
    }
  }

  layers::DecoderInput<Real> run_decoder(const Encoded<Real>& encoded, const kernels::AttentionMemory<Real>& memory,
                                         const Sentences& target) {
    PhaseTimes::Scope scope(&phases, Phase::kPacking);
    check_words(target, options.target_words, "target");
    target_packing = layers::Packing(layers::lengths_with_end(target));
    target_words = layers::pack_words(target_packing, target);
    const std::size_t B = target.size(), Y = target_packing.words();
    const auto embedded = target_embedded.shape(Y, options.embedding);
    const auto previous = previous_embedded.shape(Y, options.embedding);
    scope.change(Phase::kEmbedding);
    layers::embedding_forward<Real>(weights.target_embedding, target_words, embedded);
    layers::shift_forward<Real>(target_packing, embedded, previous);

    scope.change(Phase::kDecoder);
    layers::DecoderInput<Real> input;
    input.phases = &phases;
    input.words = options.state_word == StateWord::kCurrent ? embedded : previous;
    const auto initial = initial_states.shape(B, options.state);
    kernels::gather_rows<Real>(view_of(encoded.initial_states, options.state), target_packing.order, initial);
    input.initial_states = initial;
    if (attends()) {
      input.memory = &memory;
    } else {
      const auto fixed = fixed_context.shape(B, context_width());
      kernels::gather_rows<Real>(view_of(encoded.contexts, context_width()), target_packing.order, fixed);
      input.fixed_context = fixed;
    }
    layers::decoder_forward<Real>(weights.decoder, target_packing, input, decoder);
    losses.resize(Y);
    return input;
  }

  layers::ReadoutInput<Real> readout_input() const {
    return {decoder.previous.view(), previous_embedded.view(), decoder.context.view()};
  }

  void forward(const Sentences& source, const Sentences& target) {
    encode(source, batch);
    const Encoded<Real>& encoded = batch;
    const auto memory = memory_of(encoded);
    run_decoder(encoded, memory, target);
    const PhaseTimes::Scope scope(&phases, Phase::kReadout);
    layers::readout_loss<Real>(weights.readout, readout_input(), target_words, readout, losses);
  }

  using Finished = std::function<void(std::size_t part)>;

  // The next `count` parts of the gradient are final.
  void finish(const Finished& finished, std::size_t count) {
    for (; count > 0; --count, ++parts_finished) {
      if (finished) finished(parts_finished);
    }
  }

  void forward_and_backward(const Sentences& source, const Sentences& target, const Finished& finished) {
    encode(source, batch);
    const Encoded<Real>& encoded = batch;
    const auto memory = memory_of(encoded);
    const auto input = run_decoder(encoded, memory, target);
    const std::size_t B = target.size(), X = source_packing.words(), Y = target_packing.words();
    const std::size_t n = options.state, C = context_width(), m = options.embedding;

    PhaseTimes::Scope scope(&phases, Phase::kReadout);
    const auto previous_gradient = state_gradient.shape(Y, n);
    const auto previous_words = previous_word_gradient.shape(Y, m);
    const auto contexts = context_gradient.shape(Y, C);
    layers::readout_loss_and_backward<Real>(weights.readout, gradient.readout, readout_input(), target_words, readout,
                                            losses, {previous_gradient, previous_words, contexts});
    finish(finished, 1);

    scope.change(Phase::kDecoder);
    const auto words = word_gradient.zeros(Y, m);
    const auto annotations = annotations_gradient.zeros(attends() ? X : 0, C);
    const auto keys = keys_gradient.zeros(attends() ? X : 0, options.alignment);
    layers::decoder_backward<Real>(
        weights.decoder, gradient.decoder, target_packing, input, decoder,
        {previous_gradient, contexts, options.state_word == StateWord::kCurrent ? words : previous_words, annotations,
         keys});
    scope.change(Phase::kEmbedding);
    layers::shift_backward<Real>(target_packing, previous_words, words);
    layers::embedding_backward<Real>(tables[1].rows, gradient.target_embedding.bias, target_words, words);
    finish(finished, 2);

    scope.change(Phase::kEncoder);
    const auto initial = initial_gradient.zeros(B, n);
    kernels::scatter_add_rows<Real>(previous_gradient.row_range(0, B), target_packing.order, initial);
    encoder_backward(encoded, initial, contexts, annotations, keys, finished);
  }

  // `initial` [B, n] by the caller's sentence. Used up, like all gradients given here.
  void encoder_backward(const Encoded<Real>& encoded, MatrixView<Real> initial, MatrixView<Real> contexts,
                        MatrixView<Real> annotations, MatrixView<Real> keys, const Finished& finished) {
    const std::size_t B = initial.rows, X = source_packing.words(), n = options.state;
    const auto first_states = view_of(encoded.initial_states, n);
    const ConstMatrixView<Real> summary_states = summary_input.view();
    const auto from_initial = sentence_gradient.shape(B, n);
    const auto embedded_gradient = source_gradient.zeros(X, options.embedding);
    const auto forward_states = forward_gradient.shape(X, n);
    if (attends()) {
      tanh_layer_backward<Real>(weights.initial, gradient.initial, summary_states, first_states, initial, from_initial);
      kernels::accumulate_outer<Real>(view_of(encoded.annotations, 2 * n), keys, gradient.U_a);
      kernels::multiply_transposed<Real>(keys, weights.U_a, annotations, Into::kAdd);
      finish(finished, 1);
      const auto backward_states = backward_gradient.shape(X, n);
      kernels::gather_rows<Real>(annotations.columns(0, n), encoded_row, forward_states);
      kernels::gather_rows<Real>(annotations.columns(n, n), encoded_row, backward_states);
      kernels::scatter_add_rows<Real>(from_initial, first_word_row, backward_states);
      layers::gated_backward<Real>(weights.backward_encoder, gradient.backward_encoder, source_packing,
                                   layers::Direction::kBackward, source_embedded.view(), backward_encoder,
                                   backward_states, embedded_gradient);
      finish(finished, 1);
    } else {
      const auto contexts_out = view_of(encoded.contexts, n);
      tanh_layer_backward<Real>(weights.initial, gradient.initial, contexts_out, first_states, initial, from_initial);
      // c enters every step of its sentence, and s_0.
      for (std::size_t t = 0; t < target_packing.steps(); ++t) {
        kernels::scatter_add_rows<Real>(target_packing.step(contexts, t),
                                        std::span(target_packing.order).first(target_packing.active[t]), from_initial);
      }
      const auto from_summary = summary_gradient.shape(B, n);
      tanh_layer_backward<Real>(weights.summary, gradient.summary, summary_states, contexts_out, from_initial,
                                from_summary);
      finish(finished, 1);
      forward_gradient.zeros(X, n);
      kernels::scatter_add_rows<Real>(from_summary, last_word_row, forward_states);
    }
    layers::gated_backward<Real>(weights.forward_encoder, gradient.forward_encoder, source_packing,
                                 layers::Direction::kForward, source_embedded.view(), forward_encoder, forward_states,
                                 embedded_gradient);
    const PhaseTimes::Scope scope(&phases, Phase::kEmbedding);
    layers::embedding_backward<Real>(tables[0].rows, gradient.source_embedding.bias, source_words, embedded_gradient);
    finish(finished, 2);
  }

  // E y + b_e, and 0 where the word is kStart: nothing comes before the first word.
  MatrixView<Real> embed_previous(std::span<const WordId> words, kernels::Buffer<Real>& buffer) {
    const PhaseTimes::Scope scope(&phases, Phase::kEmbedding);
    const auto embedded = buffer.shape(words.size(), options.embedding);
    layers::embedding_forward<Real>(weights.target_embedding, words, embedded);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == kStart) std::fill_n(embedded.row(i), embedded.cols, Real{0});
    }
    return embedded;
  }

  void predict(const Encoded<Real>& encoded, const PredictInput<Real>& input, const PredictOutput<Real>& output) {
    const std::size_t R = input.state.rows, A = weights.decoder.v_a.size();
    if (R == 0) return;
    PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    if (attends()) {
      const auto query = step_query.shape(R, A);
      kernels::multiply<Real>(input.state, weights.decoder.U_query_gates.columns(0, A), query);
      std::size_t longest = 0;
      for (const auto b : input.sentence) longest = std::max(longest, encoded.source_length(b));
      const auto alpha = output.alpha.data ? output.alpha : step_alpha.shape(R, longest);
      scope.change(Phase::kAttention);
      kernels::attention_forward<Real>(memory_of(encoded), input.sentence, query, alpha, output.context);
    } else {
      kernels::gather_rows<Real>(view_of(encoded.contexts, context_width()), input.sentence, output.context);
      kernels::zero_rows<Real>(output.alpha);
    }
    scope.change(Phase::kReadout);
    const auto words = embed_previous(input.previous_word, step_words);
    layers::readout_log_probabilities<Real>(weights.readout, {input.state, words, output.context}, readout,
                                            output.log_probabilities);
  }

  void advance(const AdvanceInput<Real>& input, MatrixView<Real> next_state) {
    const std::size_t R = input.state.rows, n = options.state, A = weights.decoder.v_a.size();
    if (R == 0) return;
    const PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    const auto words =
        embed_previous(options.state_word == StateWord::kCurrent ? input.word : input.previous_word, step_words);
    const auto x = step_x.shape(R, 3 * n), extra = step_extra.shape(R, 3 * n);
    const auto recurrent = step_recurrent.shape(R, 2 * n);
    kernels::multiply<Real>(words, weights.decoder.W_in, x);
    kernels::add_to_rows<Real>(weights.decoder.b, x.columns(0, weights.decoder.b.size()));
    kernels::multiply<Real>(input.context, weights.decoder.C, extra);
    kernels::multiply<Real>(input.state, weights.decoder.U_query_gates.columns(A, 2 * n), recurrent);
    layers::gated_step_forward<Real>(ConstMatrixView<Real>(weights.decoder.U),
                                     {x, extra, recurrent, input.state, step_z.shape(R, n), step_r.shape(R, n),
                                      step_reset.shape(R, n), step_candidate.shape(R, n), next_state},
                                     step_scratch.shape(R, n));
  }
};

template <class Real>
Model<Real>::Model(const ModelOptions& options) : implementation_(std::make_unique<Implementation>(options)) {}
template <class Real>
Model<Real>::~Model() = default;
template <class Real>
Model<Real>::Model(Model&&) noexcept = default;
template <class Real>
Model<Real>& Model<Real>::operator=(Model&&) noexcept = default;

template <class Real>
const ModelOptions& Model<Real>::options() const {
  return implementation_->options;
}
template <class Real>
const ParameterLayout& Model<Real>::layout() const {
  return implementation_->layout;
}
template <class Real>
std::span<Real> Model<Real>::parameters() {
  return implementation_->parameters();
}
template <class Real>
std::span<const Real> Model<Real>::parameters() const {
  return implementation_->parameters();
}
template <class Real>
std::span<Real> Model<Real>::gradient() {
  return implementation_->gradients();
}
template <class Real>
std::span<typename Model<Real>::TableGradient> Model<Real>::table_gradients() {
  return implementation_->tables;
}
template <class Real>
std::span<const typename Model<Real>::GradientPart> Model<Real>::gradient_parts() const {
  return implementation_->parts;
}
template <class Real>
void Model<Real>::zero_gradient() {
  kernels::zero_rows<Real>(implementation_->gradient_block.view());
  for (TableGradient& table : implementation_->tables) table.rows.clear();
}
template <class Real>
std::size_t Model<Real>::state_width() const {
  return implementation_->options.state;
}
template <class Real>
std::size_t Model<Real>::context_width() const {
  return implementation_->context_width();
}
template <class Real>
PhaseTimes& Model<Real>::phases() {
  return implementation_->phases;
}

template <class Real>
void Model<Real>::initialise(std::uint64_t seed) {
  model::initialise<Real>(layout(), seed, options().initial_deviation, parameters());
}

template <class Real>
Loss Model<Real>::accumulate_gradient(const Sentences& source, const Sentences& target,
                                      const std::function<void(std::size_t part)>& finished) {
  assert(source.size() == target.size());
  implementation_->parts_finished = 0;
  if (source.empty()) {
    implementation_->finish(finished, gradient_parts().size());
    return {};
  }
  implementation_->forward_and_backward(source, target, finished);
  assert(implementation_->parts_finished == gradient_parts().size());
  const auto& losses = implementation_->losses;
  return {std::accumulate(losses.begin(), losses.end(), 0.0), losses.size()};
}

template <class Real>
Loss Model<Real>::loss(const Sentences& source, const Sentences& target) {
  assert(source.size() == target.size());
  if (source.empty()) return {};
  implementation_->forward(source, target);
  const auto& losses = implementation_->losses;
  return {std::accumulate(losses.begin(), losses.end(), 0.0), losses.size()};
}

template <class Real>
std::vector<double> Model<Real>::score(const Sentences& source, const Sentences& target) {
  assert(source.size() == target.size());
  std::vector<double> scores(source.size(), 0.0);
  if (source.empty()) return scores;
  implementation_->forward(source, target);
  const auto& packing = implementation_->target_packing;
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    for (std::size_t p = 0; p < packing.active[t]; ++p) {
      scores[packing.order[p]] -= implementation_->losses[packing.first_row[t] + p];
    }
  }
  return scores;
}

template <class Real>
std::vector<Alignment<Real>> Model<Real>::align(const Sentences& source, const Sentences& target) {
  const std::vector<double> scores = score(source, target);
  std::vector<Alignment<Real>> alignments(scores.size());
  for (std::size_t b = 0; b < scores.size(); ++b) alignments[b].log_probability = scores[b];
  if (scores.empty() || !implementation_->attends()) return alignments;
  // Columns past a sentence's own words are not its own.
  const ConstMatrixView<Real> alpha = implementation_->decoder.alpha.view();
  const auto& packing = implementation_->target_packing;
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    for (std::size_t p = 0; p < packing.active[t]; ++p) {
      const std::uint32_t b = packing.order[p];
      const Real* row = alpha.row(packing.first_row[t] + p);
      alignments[b].alpha.insert(alignments[b].alpha.end(), row, row + implementation_->batch.source_length(b));
    }
  }
  return alignments;
}

template <class Real>
Encoded<Real> Model<Real>::encode(const Sentences& source) {
  Encoded<Real> encoded;
  implementation_->encode(source, encoded);
  return encoded;
}

template <class Real>
void Model<Real>::predict(const Encoded<Real>& encoded, const PredictInput<Real>& input,
                          const PredictOutput<Real>& output) {
  implementation_->predict(encoded, input, output);
}

template <class Real>
void Model<Real>::advance(const AdvanceInput<Real>& input, MatrixView<Real> next_state) {
  implementation_->advance(input, next_state);
}

template class Model<float>;
template class Model<double>;

}  // namespace rnnsearch::model

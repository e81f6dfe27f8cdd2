#include "model/fused_network.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <type_traits>
#include <utility>

#include "model/dropout.h"
#include "model/encoder.h"
#include "model/initial_states.h"
#include "model/weights.h"
#include "rnnsearch/kernels/bfloat16.h"
#include "rnnsearch/kernels/gates.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/layers/gated_recurrence.h"

namespace rnnsearch::model {
namespace {

using kernels::Into;

template <class Real>
class FusedNetwork final : public Network<Real> {
 public:
  using typename Network<Real>::Finished;

  explicit FusedNetwork(const ModelOptions& chosen)
      : Network<Real>(chosen, layout_of(chosen)),
        weights(weights_in(options, this->parameters())),
        gradient(weights_in(options, this->gradients())),
        dropout(options),
        encoder(options, weights.encoder, gradient.encoder, layers::Direction::kBackward, dropout, memory),
        initial_states(options, weights.initial, gradient.initial, true),
        readout(layers::ReadoutKind::kMaxout, weights.readout, gradient.readout, memory) {
    parts = parts_of_gradient();
    decoder.memory = memory;  // the passes run one after the other
  }

  void encode(const Sentences& source, Encoded<Real>& encoded) override {
    encoder.forward(source, encoded, phases);
    const PhaseTimes::Scope scope(&phases, Phase::kEncoder);
    if (attends()) make_keys(view_of(std::as_const(encoded.annotations), options.context_width()), encoded);
    initial_states.forward(encoder, encoded);
  }

  void forward(const Sentences& source, const Sentences& target) override {
    encode(source, batch);
    const Encoded<Real>& encoded = batch;
    const auto attended = memory_of(encoded);
    run_decoder(encoded, attended, target);
    const PhaseTimes::Scope scope(&phases, Phase::kReadout);
    kernels::Scratch::Frame frame(memory);
    readout.begin(target_words.size(), frame);
    readout.forward(0, readout_input());
    readout.loss(target_words, losses);
  }

  void forward_and_backward(const Sentences& source, const Sentences& target, const GradientOptions& how) override {
    const Finished& finished = how.finished;
    encode(source, batch);
    const Encoded<Real>& encoded = batch;
    const auto attended = memory_of(encoded);
    const auto input = run_decoder(encoded, attended, target);
    const std::size_t X = encoder.rows().packing.words(), Y = target_packing.words();
    const std::size_t n = options.state, m = options.embedding, C = options.context_width();

    PhaseTimes::Scope scope(&phases, Phase::kReadout);
    kernels::Scratch::Frame frame(memory);
    readout.begin(Y, frame);
    readout.forward(0, readout_input());
    readout.loss_and_backward(target_words, losses, frame, how.label_smoothing);
    const auto inputs = frame.template matrix<Real>(Y, n + m + C);
    readout.backward(0, inputs);
    readout.accumulate(readout_input());
    const auto previous_gradient = inputs.columns(0, n), previous_words = inputs.columns(n, m);
    const auto contexts = inputs.columns(n + m, C);
    finish(finished, 1);

    scope.change(Phase::kDecoder);
    const auto words = frame.template zeros<Real>(Y, m);
    const auto annotations = frame.template zeros<Real>(attends() ? X : 0, C);
    const auto keys = frame.template zeros<Real>(attends() ? X : 0, options.alignment);
    layers::decoder_backward<Real>(
        weights.decoder, gradient.decoder, target_packing, input, decoder,
        {previous_gradient, contexts, options.state_word == StateWord::kCurrent ? words : previous_words, annotations,
         keys});
    scope.change(Phase::kEmbedding);
    layers::shift_backward<Real>(target_packing, previous_words, words);
    layers::embedding_backward<Real>(tables[1].rows, gradient.target_embedding.bias, target_words, words);
    finish(finished, 2);

    scope.change(Phase::kEncoder);
    if (attends()) {
      kernels::accumulate_outer<Real>(view_of(encoded.annotations, C), keys, gradient.U_a);
      kernels::multiply_transposed<Real>(keys, weights.U_a, annotations, Into::kAdd);
    }
    auto gradients = initial_states.backward(encoder, encoded, target_packing, {previous_gradient}, contexts, frame);
    gradients.annotations = annotations;
    finish(finished, 1);
    const auto& source_words = encoder.rows().words;
    const auto source_gradient = frame.template zeros<Real>(X, m);
    encoder.backward(encoded, gradients, source_gradient, [&] { finish(finished, 1); });
    scope.change(Phase::kEmbedding);
    layers::embedding_backward<Real>(tables[0].rows, gradient.encoder.embedding.bias, source_words, source_gradient);
    finish(finished, 2);
  }

  void start(const Encoded<Real>& encoded, SearchState<Real>& state) override {
    const PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    const std::size_t n = options.state, A = weights.decoder.v_a.size();
    kernels::copy_rows<Real>(view_of(encoded.initial_states, n), state.states.shape(state.rows(), n));
    if (attends()) step_W_a.pack(weights.decoder.U_query_gates.columns(0, A));
    step_U_gates.pack(weights.decoder.U_query_gates.columns(A, 2 * n));
    step_W_in.pack(weights.decoder.W_in);
    step_U.pack(weights.decoder.U);
    step_C.pack(weights.decoder.C);
    readout.pack();
  }

  void predict(const Encoded<Real>& encoded, SearchState<Real>& state, const Prediction<Real>& prediction) override {
    const std::size_t R = state.rows(), A = weights.decoder.v_a.size();
    PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    const auto c = state.context.shape(R, options.context_width());
    if (attends()) {
      const auto query = step_query.shape(R, A);
      kernels::multiply<Real>(state.states.view(), step_W_a, query);
      std::size_t longest = 0;
      for (const auto b : state.sentence) longest = std::max(longest, encoded.source_length(b));
      const auto alpha = prediction.alpha.data ? prediction.alpha : step_alpha.shape(R, longest);
      scope.change(Phase::kAttention);
      kernels::attention_forward<Real>(memory_of(encoded), state.sentence, query, alpha, c);
    } else {
      kernels::gather_rows<Real>(view_of(encoded.contexts, c.cols), state.sentence, c);
      kernels::zero_rows<Real>(prediction.alpha);
    }
    scope.change(Phase::kReadout);
    const auto words = embed_previous(state.previous, step_words);
    kernels::Scratch::Frame frame(memory);
    readout.begin(R, frame, {}, true);
    readout.forward(0, {state.states.view(), words, c});
    readout.log_probabilities(prediction.log_probabilities);
  }

  void advance(SearchState<Real>& state) override {
    const std::size_t R = state.rows(), n = options.state;
    const PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    const auto words =
        embed_previous(options.state_word == StateWord::kCurrent ? state.word : state.previous, step_words);
    const auto x = step_x.shape(R, 3 * n), extra = step_extra.shape(R, 3 * n);
    const auto recurrent = step_recurrent.shape(R, 2 * n), previous = state.states.view();
    kernels::multiply<Real>(words, step_W_in, x);
    kernels::add_to_rows<Real>(weights.decoder.b, x.columns(0, weights.decoder.b.size()));
    kernels::multiply<Real>(state.context.view(), step_C, extra);
    kernels::multiply<Real>(previous, step_U_gates, recurrent);
    layers::gated_step_forward<Real>(
        step_U,
        {x, extra, recurrent, previous, x.columns(n, n), x.columns(2 * n, n), x.columns(0, n), state.spare.shape(R, n)},
        step_scratch.shape(R, 2 * n));
    std::swap(state.states, state.spare);
  }

  ConstMatrixView<Real> contexts() const override { return decoder.context.view(); }
  ConstMatrixView<Real> alpha() const override { return decoder.alpha.view(); }

 private:
  using typename Network<Real>::GradientPart;
  using Network<Real>::options, Network<Real>::layout, Network<Real>::tables, Network<Real>::parts;
  using Network<Real>::phases, Network<Real>::batch, Network<Real>::target_packing, Network<Real>::losses;
  using Network<Real>::finish;

  // forward_and_backward relies on this order.
  std::vector<GradientPart> parts_of_gradient() const {
    const auto offset = [&](const char* name) { return layout.find(name).offset; };
    const std::size_t from_readout = offset("readout/U_o");
    const std::size_t from_decoder = options.embedding_biases ? offset("decoder/embedding_bias") : offset("decoder/W");
    const std::size_t between = attends() ? offset("attention/U_a") : offset("decoder/initial/W_s");
    const std::size_t backward = attends() ? offset("encoder/backward/W") : between;
    std::vector<GradientPart> all{{from_readout, layout.dense - from_readout},
                                  {from_decoder, from_readout - from_decoder},
                                  {0, 0, 1},
                                  {between, from_decoder - between}};
    if (attends()) all.push_back({backward, between - backward});
    all.push_back({0, backward});
    all.push_back({0, 0, 0});
    return all;
  }

  bool attends() const { return options.attends(); }

  kernels::AttentionMemory<Real> memory_of(const Encoded<Real>& encoded) const {
    return {encoded.offsets,
            view_of(encoded.annotations, options.context_width()),
            view_of(encoded.keys, options.alignment),
            weights.decoder.v_a,
            view_of(encoded.rounded_annotations, options.context_width()),
            view_of(encoded.rounded_keys, options.alignment)};
  }

  void make_keys(ConstMatrixView<Real> annotations, Encoded<Real>& encoded) const {
    const std::size_t X = annotations.rows, A = options.alignment;
    if constexpr (std::is_same_v<Real, float>) {
      if (kernels::precision() == kernels::Precision::kBFloat16) {
        kernels::Scratch::Frame frame(memory);
        const auto keys = frame.template matrix<Real>(X, A);
        kernels::multiply<Real>(annotations, weights.U_a, keys);
        encoded.keys.clear();
        kernels::round_to_bfloat16(keys, view_of(encoded.rounded_keys, X, A));
        kernels::round_to_bfloat16(annotations, view_of(encoded.rounded_annotations, X, annotations.cols));
        return;
      }
    }
    kernels::multiply<Real>(annotations, weights.U_a, view_of(encoded.keys, X, A));
    encoded.rounded_keys.clear();
    encoded.rounded_annotations.clear();
  }

  layers::DecoderInput<Real> run_decoder(const Encoded<Real>& encoded, const kernels::AttentionMemory<Real>& attended,
                                         const Sentences& target) {
    PhaseTimes::Scope scope(&phases, Phase::kPacking);
    check_words(target, options.target_words, "target");
    target_packing = layers::Packing(layers::lengths_with_end(target));
    target_words = layers::pack_words(target_packing, target);
    const std::size_t B = target.size(), Y = target_packing.words();
    const bool reads_current = options.state_word == StateWord::kCurrent;
    kernels::Scratch::Frame frame(memory);
    const auto embedded =
        reads_current ? target_embedded.shape(Y, options.embedding) : frame.template matrix<Real>(Y, options.embedding);
    const auto previous = previous_embedded.shape(Y, options.embedding);
    scope.change(Phase::kEmbedding);
    layers::embedding_forward<Real>(weights.target_embedding, target_words, embedded);
    layers::shift_forward<Real>(target_packing, embedded, previous);

    scope.change(Phase::kDecoder);
    layers::DecoderInput<Real> input;
    input.phases = &phases;
    input.words = reads_current ? embedded : previous;
    const auto initial = first_states.shape(B, options.state);
    kernels::gather_rows<Real>(view_of(encoded.initial_states, options.state), target_packing.order, initial);
    input.initial_states = initial;
    if (attends()) {
      input.memory = &attended;
    } else {
      const auto fixed = fixed_context.shape(B, options.context_width());
      kernels::gather_rows<Real>(view_of(encoded.contexts, options.context_width()), target_packing.order, fixed);
      input.fixed_context = fixed;
    }
    layers::decoder_forward<Real>(weights.decoder, target_packing, input, decoder);
    losses.resize(Y);
    return input;
  }

  layers::ReadoutInput<Real> readout_input() const {
    return {decoder.previous.view(), previous_embedded.view(), decoder.context.view()};
  }

  // E y + b_e; 0 for kStart, because no word precedes the first one.
  MatrixView<Real> embed_previous(std::span<const WordId> words, kernels::Buffer<Real>& buffer) {
    const PhaseTimes::Scope scope(&phases, Phase::kEmbedding);
    const auto embedded = buffer.shape(words.size(), options.embedding);
    layers::embedding_forward<Real>(weights.target_embedding, words, embedded);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == kStart) std::fill_n(embedded.row(i), embedded.cols, Real{0});
    }
    return embedded;
  }

  Weights<Real> weights, gradient;
  kernels::Scratch memory;
  Dropout dropout;
  SourceEncoder<Real> encoder;
  InitialStates<Real> initial_states;
  layers::Readout<Real> readout;

  std::vector<WordId> target_words;
  kernels::Buffer<Real> target_embedded, previous_embedded, first_states, fixed_context;
  layers::DecoderActivations<Real> decoder;

  // A step of a search. `start` packs the matrices for all steps.
  kernels::PackedMatrix<Real> step_W_in, step_W_a, step_U_gates, step_U, step_C;
  kernels::Buffer<Real> step_words, step_query, step_alpha, step_x, step_recurrent, step_extra, step_scratch;
};

}  // namespace

template <class Real>
std::unique_ptr<Network<Real>> make_fused_network(const ModelOptions& options) {
  return std::make_unique<FusedNetwork<Real>>(options);
}

template std::unique_ptr<Network<float>> make_fused_network(const ModelOptions&);
template std::unique_ptr<Network<double>> make_fused_network(const ModelOptions&);

}  // namespace rnnsearch::model

#include "model/gated_decoder.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "model/network.h"
#include "rnnsearch/kernels/bfloat16.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/layers/gated_recurrence.h"
#include "rnnsearch/layers/repeated_rows.h"

namespace rnnsearch::model {
namespace {

using kernels::Buffer;
using kernels::PackedMatrix;
using kernels::Scratch;

// Letters as in decoder.h; n state width, m embedding width, A alignment width.
template <class Real>
class GatedDecoder final : public Decoder<Real>, private DecoderParts<Real> {
 public:
  explicit GatedDecoder(const DecoderParts<Real>& parts)
      : DecoderParts<Real>(parts), n(options.state), A(weights.gated.v_a.size()), C(options.context_width()) {
    activations.memory = scratch;
  }

  void make_keys(Encoded<Real>& encoded) override {
    const auto annotations = view_of(std::as_const(encoded.annotations), C);
    const std::size_t X = annotations.rows;
    if constexpr (std::is_same_v<Real, float>) {
      if (kernels::precision() != kernels::Precision::kFloat32) {
        Scratch::Frame frame(scratch);
        const auto keys = frame.template matrix<Real>(X, A);
        kernels::multiply<Real>(annotations, weights.attention.U_a, keys);
        encoded.keys.clear();
        kernels::round_to_bfloat16(keys, view_of(encoded.rounded_keys, X, A));
        kernels::round_to_bfloat16(annotations, view_of(encoded.rounded_annotations, X, C));
        return;
      }
    }
    kernels::multiply<Real>(annotations, weights.attention.U_a, view_of(encoded.keys, X, A));
    encoded.rounded_keys.clear();
    encoded.rounded_annotations.clear();
  }

  void forward(const Encoded<Real>& encoded, const TargetRows& target, Scratch::Frame&) override {
    PhaseTimes::Scope scope(&phases, Phase::kEmbedding);
    const layers::Packing& packing = target.packing;
    const std::size_t B = packing.sentences(), Y = packing.words(), m = options.embedding;
    const auto dropped = dropout.mask_of_words(Place::kWholeTargetWord, target.words, 1);
    distinct = dropped.drops() ? layers::DistinctWords::each(target.words) : layers::DistinctWords(target.words);
    const std::size_t D = distinct.words.size();
    const auto embedded = embedded_words.shape(D + 1, m);  // the last row is zeros, for the first step
    words.forward(distinct.words, embedded.row_range(0, D));
    kernels::drop_rows<Real>(dropped, embedded.row_range(0, D));
    std::fill_n(embedded.row(D), m, Real{0});
    previous_place = layers::one_step_before(packing, distinct.place, static_cast<std::uint32_t>(D));
    const auto previous = previous_words.shape(Y, m);
    kernels::gather_rows<Real>(embedded, previous_place, previous);

    scope.change(Phase::kDecoder);
    input = {};
    input.phases = &phases;
    input.words = {embedded, reads_current_word() ? distinct.place : previous_place};
    const auto initial = first_states.shape(B, n);
    kernels::gather_rows<Real>(view_of(encoded.initial_states, n), packing.order, initial);
    input.initial_states = initial;
    if (options.attends()) {
      memory = memory_of(encoded);
      input.memory = &memory;
    } else {
      const auto fixed = fixed_context.shape(B, C);
      kernels::gather_rows<Real>(view_of(encoded.contexts, C), packing.order, fixed);
      input.fixed_context = fixed;
    }
    layers::decoder_forward<Real>(weights.gated, packing, input, activations);
    readout_input = {activations.previous.view(), previous, activations.context.view()};
  }

  std::size_t embeddings(const TargetRows&) const override { return distinct.words.size(); }
  layers::ReadoutInput<Real> for_readout() const override { return readout_input; }

  void backward(const Encoded<Real>&, const TargetRows& target, MatrixView<Real> inputs,
                SourceGradients<Real>& gradients) override {
    PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    const std::size_t m = options.embedding, D = distinct.words.size();
    const auto states = inputs.columns(0, n);
    gradients.states = {states};
    gradients.contexts = inputs.columns(n + m, C);
    Scratch::Frame frame(scratch);
    const auto all = frame.template zeros<Real>(D + 1, m), embedded = all.row_range(0, D);
    kernels::scatter_add_rows<Real>(inputs.columns(n, m), previous_place, all);
    layers::decoder_backward<Real>(
        weights.gated, gradient.gated, target.packing, input, activations,
        {states, gradients.contexts, all, gradients.annotations, gradients.keys, gradients.guide});
    scope.change(Phase::kEmbedding);
    kernels::drop_rows<Real>(dropout.mask_of_words(Place::kWholeTargetWord, target.words, 1), embedded);
    words.backward(distinct.words, embedded);
  }

  void keys_backward(const Encoded<Real>& encoded, const SourceGradients<Real>& gradients) override {
    kernels::accumulate_outer<Real>(view_of(encoded.annotations, C), gradients.keys, gradient.attention.U_a);
    kernels::multiply_transposed<Real>(gradients.keys, weights.attention.U_a, gradients.annotations,
                                       kernels::Into::kAdd);
  }

  ConstMatrixView<Real> alpha() const override { return activations.alpha.view(); }
  ConstMatrixView<Real> contexts() const override { return activations.context.view(); }

  void start(SearchState<Real>&, bool pack) override {
    if (!pack) return;
    if (options.attends()) W_a.pack(weights.gated.U_query_gates.columns(0, A));
    U_gates.pack(weights.gated.U_query_gates.columns(A, 2 * n));
    W_in.pack(weights.gated.W_in);
    U.pack(weights.gated.U);
    C_all.pack(weights.gated.C);
  }

  void predict(const Encoded<Real>& encoded, SearchState<Real>& state, MatrixView<Real> alpha_out,
               Scratch::Frame& frame) override {
    const std::size_t R = state.rows();
    PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    const auto c = state.context.shape(R, C);
    if (options.attends()) {
      const auto query = frame.template matrix<Real>(R, A);
      kernels::multiply<Real>(state.states.view(), W_a, query);
      std::size_t longest = 0;
      for (const auto b : state.sentence) longest = std::max(longest, encoded.source_length(b));
      if (!alpha_out.data) alpha_out = frame.template matrix<Real>(R, longest);
      scope.change(Phase::kAttention);
      kernels::attention_forward<Real>(memory_of(encoded), state.sentence, query, alpha_out, c);
    } else {
      kernels::gather_rows<Real>(view_of(encoded.contexts, C), state.sentence, c);
      kernels::zero_rows<Real>(alpha_out);
    }
    readout_input = {state.states.view(), embed(state.previous, frame), c};
  }

  void advance(SearchState<Real>& state) override {
    const PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    const std::size_t R = state.rows();
    Scratch::Frame frame(scratch);
    const auto x = frame.template matrix<Real>(R, 3 * n), extra = frame.template matrix<Real>(R, 3 * n);
    const auto recurrent = frame.template matrix<Real>(R, 2 * n), previous = state.states.view();
    kernels::multiply<Real>(embed(reads_current_word() ? state.word : state.previous, frame), W_in, x);
    kernels::add_to_rows<Real>(weights.gated.b, x.columns(0, weights.gated.b.size()));
    kernels::multiply<Real>(state.context.view(), C_all, extra);
    kernels::multiply<Real>(previous, U_gates, recurrent);
    layers::gated_step_forward<Real>(
        U,
        {x, extra, recurrent, previous, x.columns(n, n), x.columns(2 * n, n), x.columns(0, n), state.spare.shape(R, n)},
        frame.template matrix<Real>(R, 2 * n));
    std::swap(state.states, state.spare);
  }

 private:
  bool reads_current_word() const { return options.state_word == StateWord::kCurrent; }

  kernels::AttentionMemory<Real> memory_of(const Encoded<Real>& encoded) const {
    return {encoded.offsets,   view_of(encoded.annotations, C),         view_of(encoded.keys, A),
            weights.gated.v_a, view_of(encoded.rounded_annotations, C), view_of(encoded.rounded_keys, A)};
  }

  // E y + b_e; 0 for kStart, because no word precedes the first one.
  MatrixView<Real> embed(std::span<const WordId> of, Scratch::Frame& frame) const {
    const PhaseTimes::Scope scope(&phases, Phase::kEmbedding);
    const auto embedded = frame.template matrix<Real>(of.size(), options.embedding);
    words.forward(of, embedded);
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (of[i] == kStart) std::fill_n(embedded.row(i), embedded.cols, Real{0});
    }
    return embedded;
  }

  using DecoderParts<Real>::options, DecoderParts<Real>::weights, DecoderParts<Real>::gradient;
  using DecoderParts<Real>::words, DecoderParts<Real>::dropout, DecoderParts<Real>::scratch;
  using DecoderParts<Real>::phases;

  const std::size_t n, A, C;
  layers::DistinctWords distinct;             // the words of the batch
  std::vector<std::uint32_t> previous_place;  // [Y] the place of y_{i-1} among them; D in the first step
  Buffer<Real> embedded_words, previous_words, first_states, fixed_context;
  kernels::AttentionMemory<Real> memory;
  layers::DecoderInput<Real> input;
  layers::DecoderActivations<Real> activations;
  layers::ReadoutInput<Real> readout_input;
  PackedMatrix<Real> W_in, W_a, U_gates, U, C_all;  // for the steps of a search
};

}  // namespace

template <class Real>
std::unique_ptr<Decoder<Real>> make_gated_decoder(const DecoderParts<Real>& parts) {
  return std::make_unique<GatedDecoder<Real>>(parts);
}

template std::unique_ptr<Decoder<float>> make_gated_decoder(const DecoderParts<float>&);
template std::unique_ptr<Decoder<double>> make_gated_decoder(const DecoderParts<double>&);

}  // namespace rnnsearch::model

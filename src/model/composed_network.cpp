#include "model/composed_network.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "model/composed_weights.h"
#include "model/dropout.h"
#include "model/encoder.h"
#include "model/initial_states.h"
#include "rnnsearch/kernels/attention.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/layers/readout.h"

namespace rnnsearch::model {
namespace {

using kernels::Buffer;
using kernels::Into;

layers::ReadoutKind readout_kind_of(const ModelOptions& options) {
  if (options.has_linear_vector()) return layers::ReadoutKind::kAffine;
  switch (options.readout) {
    case Readout::kMaxout:
      return layers::ReadoutKind::kMaxout;
    case Readout::kTanh:
      return layers::ReadoutKind::kTanh;
    case Readout::kLinear:
      return layers::ReadoutKind::kLinear;
    case Readout::kMlp:
      return layers::ReadoutKind::kMlp;
  }
  return layers::ReadoutKind::kMaxout;
}

layers::WindowKind kind_of(AttentionWindow window) {
  switch (window) {
    case AttentionWindow::kGlobal:
      return layers::WindowKind::kGlobal;
    case AttentionWindow::kLocalM:
      return layers::WindowKind::kLocalM;
    case AttentionWindow::kLocalP:
      return layers::WindowKind::kLocalP;
  }
  return layers::WindowKind::kGlobal;
}

// Letters: X source words in the batch, Y target words, B sentences, R rows of a decoder step, n state width, e encoder
// state width of each direction, S whole state of a layer, C context width, H width of the readout's vector.
template <class Real>
class ComposedNetwork final : public Network<Real> {
 public:
  using typename Network<Real>::Finished;

  explicit ComposedNetwork(const ModelOptions& chosen)
      : Network<Real>(chosen, composed_layout_of(chosen)),
        widths(chosen),
        weights(composed_weights_in(options, this->parameters())),
        gradient(composed_weights_in(options, this->gradients())),
        dropout(options),
        encoder(options, weights.encoder, gradient.encoder, layers::Direction::kForward, dropout, scratch),
        initial_states(options, weights.initial, gradient.initial, false),
        readout(readout_kind_of(options), weights.readout, gradient.readout, scratch),
        decoder(options.layers) {
    for (std::size_t k = 0; k < options.layers; ++k) {
      decoder[k].cell = layers::make_cell<Real>(widths.decoder_cell, weights.decoder[k].cell, gradient.decoder[k].cell);
    }
    if (options.attends()) {
      attention = std::make_unique<layers::SoftAttention<Real>>(options.attention.score(),
                                                                kind_of(options.attention_window), options.window,
                                                                widths.score, weights.attention, gradient.attention);
    }
    ComposedParts from;
    composed_layout_of(options, &from);
    const GradientPart dense_table{from.table, layout.dense - from.table};
    parts = {{from.readout, from.table - from.readout}, {from.decoder, from.readout - from.decoder}};
    if (!options.ties_sides()) parts.push_back(options.ties_output() ? dense_table : GradientPart{0, 0, 1});
    parts.push_back({0, from.decoder});
    parts.push_back(options.ties_sides() && options.ties_output() ? dense_table : GradientPart{0, 0, 0});
  }

  void encode(const Sentences& source, Encoded<Real>& encoded) override {
    packed.reset();
    encoder.forward(source, encoded, phases);
    const PhaseTimes::Scope scope(&phases, Phase::kEncoder);
    if (options.attends() && attention->has_keys()) {
      const auto annotations = view_of(std::as_const(encoded.annotations), widths.annotation);
      attention->keys(annotations, view_of(encoded.keys, annotations.rows, widths.score));
    }
    initial_states.forward(encoder, encoded);
  }

  void forward(const Sentences& source, const Sentences& target) override {
    encode(source, batch);
    kernels::Scratch::Frame frame(scratch);
    run_decoder(target, frame);
    const PhaseTimes::Scope scope(&phases, Phase::kReadout);
    if (!feeds()) readout.forward(0, {readout_input.view()});
    readout.loss(target_words, losses);
  }

  void forward_and_backward(const Sentences& source, const Sentences& target, const GradientOptions& how) override {
    const Finished& finished = how.finished;
    const Dropout::Batch drops(dropout, how.dropout_seed);
    encode(source, batch);
    kernels::Scratch::Frame frame(scratch);
    run_decoder(target, frame);
    const std::size_t X = encoder.rows().packing.words();
    readout_backward(how.label_smoothing, frame);
    if (!feeds()) finish(finished, 1);
    {
      const PhaseTimes::Scope scope(&phases, Phase::kDecoder);
      decoder_backward();
    }
    const auto annotations = frame.template zeros<Real>(options.attends() ? X : 0, widths.annotation);
    if (options.attends()) {
      const PhaseTimes::Scope scope(&phases, Phase::kAttention);
      const layers::SentenceRows steps(target_packing);
      kernels::annotations_backward<Real>(batch.offsets, {steps.offsets, steps.rows}, attention->context_weights(),
                                          context_gradient.view(), annotations);
      const auto keys = keys_gradient.view();
      if (attention->has_keys()) {
        attention->keys_backward(view_of(std::as_const(batch.annotations), widths.annotation), keys, annotations);
      } else {
        kernels::add<Real>(keys, annotations);
      }
    }
    PhaseTimes::Scope scope(&phases, Phase::kEncoder);
    std::vector<MatrixView<Real>> first;
    for (const auto& layer : decoder) first.push_back(layer.previous_gradient.view());
    auto gradients = initial_states.backward(encoder, batch, target_packing, first, context_gradient.view(), frame);
    gradients.annotations = annotations;
    target_embedding_backward();
    if (feeds()) finish(finished, 1);
    finish(finished, options.ties_sides() ? 1 : 2);  // the decoder; the target table unless both sides share it
    const auto source_gradient = frame.template zeros<Real>(X, options.embedding);
    encoder.backward(batch, gradients, source_gradient, {});
    scope.change(Phase::kEmbedding);
    embedding_backward(Side::kSource, encoder.rows().words, source_gradient);
    finish(finished, 2);
  }

  void start(const Encoded<Real>& encoded, SearchState<Real>& state) override {
    const PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    const std::size_t B = state.rows();
    const auto first_states = view_of(encoded.initial_states, options.layers * widths.cell_state);
    kernels::copy_rows<Real>(first_states, state.states.shape(B, first_states.cols));
    if (feeds()) kernels::copy_rows<Real>(first_fed(B), state.fed.shape(B, widths.hidden));
    packed.reset();
    readout.pack();
  }

  void predict(const Encoded<Real>& encoded, SearchState<Real>& state, const Prediction<Real>& prediction) override {
    const std::size_t R = state.rows();
    PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    kernels::Scratch::Frame frame(scratch);
    begin_step(state, frame);
    embed_previous(state.previous);
    std::size_t longest = 0;
    for (const auto b : state.sentence) longest = std::max(longest, encoded.source_length(b));
    if (options.attends()) {
      attention->begin(R, longest);
    } else if (options.has_context()) {
      kernels::gather_rows<Real>(view_of(encoded.contexts, widths.context), state.sentence, context.view());
    }
    if (updates_first()) input_products(R);
    step(0, R, memory_of(encoded), state.sentence, scope);
    if (updates_first()) {
      store_states(state);
      if (feeds()) kernels::copy_rows<Real>(readout.vector(), state.fed.view());
    } else {
      kernels::copy_rows<Real>(context.view(), state.context.shape(R, widths.context));
    }
    if (prediction.alpha.data) {
      kernels::zero_rows<Real>(prediction.alpha);
      if (options.attends()) kernels::copy_rows<Real>(attention->alpha(), prediction.alpha.columns(0, longest));
    }
    scope.change(Phase::kReadout);
    if (!feeds()) readout.forward(0, {readout_input.view()});
    readout.log_probabilities(prediction.log_probabilities);
  }

  void advance(SearchState<Real>& state) override {
    if (updates_first()) return;
    const PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    const std::size_t R = state.rows();
    kernels::Scratch::Frame frame(scratch);
    begin_step(state, frame);
    if (reads_current_word()) {
      embed_current(state.word);
    } else {
      embed_previous(state.previous);
    }
    if (widths.state_context > 0) kernels::copy_rows<Real>(state.context.view(), state_part(Part::kContext, 0, R));
    input_products(R);
    update(0, R);
    store_states(state);
  }

  ConstMatrixView<Real> contexts() const override { return context.view(); }
  ConstMatrixView<Real> alpha() const override { return attention ? attention->alpha() : ConstMatrixView<Real>(); }

 private:
  using typename Network<Real>::GradientPart;
  using Network<Real>::options, Network<Real>::layout, Network<Real>::tables, Network<Real>::parts;
  using Network<Real>::phases, Network<Real>::batch, Network<Real>::target_packing, Network<Real>::losses;
  using Network<Real>::finish;

  struct DecoderLayer {
    std::unique_ptr<layers::Cell<Real>> cell;
    kernels::PackedMatrix<Real> W_in;                  // all rows except those of static_width()
    Buffer<Real> input, input_gradient;                // [Y, I]
    Buffer<Real> x;                                    // [Y, .]; after the backward pass its gradient
    Buffer<Real> previous, current;                    // [Y, S] s_{i-1}, s_i
    Buffer<Real> previous_gradient, current_gradient;  // [Y, S]
  };

  bool updates_first() const { return options.updates_first(); }
  bool feeds() const { return options.input_feeding || options.feeds_output(); }
  /// Whether the embedding of <s> is fed to the first step.
  bool feeds_start() const { return options.feeds_output() && options.start == Start::kEmbedded; }
  bool reads_current_word() const {
    return options.state_word == Step::kCurrent && options.feedback == Feedback::kWord && !updates_first();
  }
  /// The number of columns of the first layer's input that are known before the steps.
  std::size_t static_width() const { return options.feedback == Feedback::kWord ? widths.state_word : 0; }

  // ---- inputs of state and readout

  enum class Part { kState, kWord, kFed, kContext };
  static MatrixView<Real> part_of(const MatrixView<Real>& matrix, std::size_t first_row, std::size_t R,
                                  std::size_t column, std::size_t width) {
    return matrix.row_range(first_row, R).columns(column, width);
  }
  MatrixView<Real> state_part(const MatrixView<Real>& matrix, Part part, std::size_t first, std::size_t R) const {
    const std::size_t word = widths.state_word, fed = widths.state_fed;
    switch (part) {
      case Part::kWord:
        return part_of(matrix, first, R, 0, word);
      case Part::kFed:
        return part_of(matrix, first, R, word, fed);
      default:
        return part_of(matrix, first, R, word + fed, widths.state_context);
    }
  }
  MatrixView<Real> state_part(Part part, std::size_t first, std::size_t R) const {
    return state_part(decoder[0].input.view(), part, first, R);
  }
  MatrixView<Real> readout_part(const MatrixView<Real>& matrix, Part part, std::size_t first, std::size_t R) const {
    const std::size_t state = widths.readout_state, word = widths.readout_word;
    switch (part) {
      case Part::kState:
        return part_of(matrix, first, R, 0, state);
      case Part::kWord:
        return part_of(matrix, first, R, state, word);
      default:
        return part_of(matrix, first, R, state + word, widths.readout_context);
    }
  }
  MatrixView<Real> readout_part(Part part, std::size_t first, std::size_t R) const {
    return readout_part(readout_input.view(), part, first, R);
  }

  // Writes the embeddings of the previous words of all rows into the inputs that read them. kStart gives 0 or its
  // embedding.
  void embed_previous(std::span<const WordId> words) {
    if (options.feedback == Feedback::kOutput) return;
    const PhaseTimes::Scope scope(&phases, Phase::kEmbedding);
    const auto embedded = previous_embedded.shape(words.size(), options.embedding);
    layers::embedding_forward<Real>(weights.target_embedding, words, embedded);
    if (options.start == Start::kZero) {
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == kStart) std::fill_n(embedded.row(i), embedded.cols, Real{0});
      }
    }
    place_previous(embedded);
  }
  void place_previous(ConstMatrixView<Real> embedded) {
    if (widths.readout_word > 0) kernels::copy_rows<Real>(embedded, readout_part(Part::kWord, 0, embedded.rows));
    if (widths.state_word > 0 && !reads_current_word()) {
      kernels::copy_rows<Real>(embedded, state_part(Part::kWord, 0, embedded.rows));
    }
  }
  void embed_current(std::span<const WordId> words) {
    if (widths.state_word == 0) return;
    const PhaseTimes::Scope scope(&phases, Phase::kEmbedding);
    const auto embedded = current_embedded.shape(words.size(), options.embedding);
    layers::embedding_forward<Real>(weights.target_embedding, words, embedded);
    kernels::drop<Real>(dropout.mask(Place::kTargetWord, 0, 1), embedded);
    kernels::copy_rows<Real>(embedded, state_part(Part::kWord, 0, words.size()));
  }

  // ---- one step of R rows from `first` on. The previous state is in `previous` and in the fed parts.

  // frame: memory that must outlive the steps and the backward pass.
  void begin_rows(std::size_t Y, std::size_t widest, kernels::Scratch::Frame& frame, bool searching) {
    const bool pack = !packed;
    if (pack) packed.emplace(packed_memory);
    for (std::size_t k = 0; k < options.layers; ++k) {
      DecoderLayer& layer = decoder[k];
      const MatrixView<Real>& W_in = weights.decoder[k].W_in;
      const std::size_t fixed = k == 0 ? static_width() : 0;
      layer.input.shape(Y, W_in.rows);
      layer.x.shape(Y, W_in.cols);
      layer.previous.shape(Y, widths.cell_state);
      layer.current.shape(Y, widths.cell_state);
      layer.cell->begin(Y, widest, frame, dropout.mask(Place::kDecoderState, k));
      if (!pack) continue;
      layer.cell->pack(*packed);
      if (W_in.rows > fixed) layer.W_in.pack(W_in.row_range(fixed, W_in.rows - fixed), *packed);
    }
    context.shape(Y, widths.context);
    readout_input.shape(Y, widths.readout_input());
    readout.begin(Y, frame, dropout.mask(Place::kReadout), searching);
    positions.resize(Y);
  }

  // Computes the product of the static inputs for rows [0, Y) of all steps at once.
  void input_products(std::size_t Y) {
    if (static_width() == 0) return;
    kernels::multiply<Real>(decoder[0].input.view().row_range(0, Y).columns(0, static_width()),
                            weights.decoder[0].W_in.row_range(0, static_width()), decoder[0].x.view().row_range(0, Y));
  }

  MatrixView<Real> top(const Buffer<Real>& states, std::size_t first, std::size_t R) const {
    return states.view().row_range(first, R).columns(0, options.state);
  }

  void update(std::size_t first, std::size_t R) {
    for (std::size_t k = 0; k < options.layers; ++k) {
      DecoderLayer& layer = decoder[k];
      const auto x = layer.x.view().row_range(first, R);
      const std::size_t fixed = k == 0 ? static_width() : 0;
      const auto input = layer.input.view().row_range(first, R);
      if (input.cols > fixed) {
        kernels::multiply<Real>(input.columns(fixed, input.cols - fixed), layer.W_in, x,
                                fixed > 0 ? Into::kAdd : Into::kOverwrite);
      } else if (input.cols == 0) {  // state-inputs = none
        kernels::zero_rows<Real>(x);
      }
      const auto b = weights.decoder[k].b;
      kernels::add_to_rows<Real>(b, x.columns(0, b.size()));
      layer.cell->forward(
          {first, R, x, layer.previous.view().row_range(first, R), layer.current.view().row_range(first, R)});
      if (k + 1 < options.layers) {
        const auto above = decoder[k + 1].input.view().row_range(first, R);
        kernels::copy_rows<Real>(top(layer.current, first, R), above);
        kernels::drop<Real>(dropout.mask(Place::kDecoderOutput, k).rows(first, R), above);
      }
    }
  }

  void attend(std::size_t first, std::size_t R, const layers::SoftAttentionMemory<Real>& memory,
              std::span<const std::uint32_t> sentence, const Buffer<Real>& states) {
    const PhaseTimes::Scope scope(&phases, Phase::kAttention);
    attention->forward(first, memory, sentence, top(states, first, R), std::span(positions).subspan(first, R),
                       context.view().row_range(first, R));
  }

  // The whole step, except for the update of the state if the readout comes first.
  void step(std::size_t first, std::size_t R, const layers::SoftAttentionMemory<Real>& memory,
            std::span<const std::uint32_t> sentence, PhaseTimes::Scope& scope) {
    DecoderLayer& last = decoder.back();
    const bool from_current = options.attend_from == Step::kCurrent;
    if (options.attends() && !from_current) attend(first, R, memory, sentence, last.previous);
    const auto c = context.view().row_range(first, R);
    if (widths.state_context > 0) kernels::copy_rows<Real>(c, state_part(Part::kContext, first, R));
    if (updates_first()) update(first, R);
    if (options.attends() && from_current) attend(first, R, memory, sentence, last.current);
    const Buffer<Real>& states = updates_first() ? last.current : last.previous;
    if (widths.readout_state > 0) {
      kernels::copy_rows<Real>(top(states, first, R), readout_part(Part::kState, first, R));
    }
    if (widths.readout_context > 0) kernels::copy_rows<Real>(c, readout_part(Part::kContext, first, R));
    if (!feeds()) return;
    scope.change(Phase::kReadout);
    readout.forward(first, {readout_input.view().row_range(first, R)});
    scope.change(Phase::kDecoder);
  }

  // The vector that is fed to the first step of B sentences, [B, H]: zero, or the embedding of <s>.
  MatrixView<Real> first_fed(std::size_t B) {
    const auto fed = fed_first.zeros(B, widths.hidden);
    if (feeds_start()) {
      previous_words.assign(B, kStart);
      layers::embedding_forward<Real>(weights.target_embedding, previous_words, fed);
    }
    return fed;
  }

  // Writes the readout's vector of the previous step, [R, H], into the inputs that read it.
  void feed(ConstMatrixView<Real> fed, std::size_t first) {
    if (widths.state_fed > 0) kernels::copy_rows<Real>(fed, state_part(Part::kFed, first, fed.rows));
    if (options.feedback != Feedback::kOutput) return;
    if (widths.state_word > 0) kernels::copy_rows<Real>(fed, state_part(Part::kWord, first, fed.rows));
    if (widths.readout_word > 0) kernels::copy_rows<Real>(fed, readout_part(Part::kWord, first, fed.rows));
  }

  layers::SoftAttentionMemory<Real> memory_of(const Encoded<Real>& encoded) const {
    if (!options.attends()) return {};
    const auto annotations = view_of(encoded.annotations, widths.annotation);
    return {encoded.offsets, annotations, attention->has_keys() ? view_of(encoded.keys, widths.score) : annotations};
  }

  // ---- a single step of a search

  void begin_step(const SearchState<Real>& state, kernels::Scratch::Frame& frame) {
    const std::size_t R = state.rows(), S = widths.cell_state;
    begin_rows(R, R, frame, true);
    for (std::size_t k = 0; k < options.layers; ++k) {
      kernels::copy_rows<Real>(state.states.view().columns(k * S, S), decoder[k].previous.view());
    }
    if (feeds()) feed(state.fed.view(), 0);
    std::fill(positions.begin(), positions.end(), static_cast<std::uint32_t>(state.written));
  }
  void store_states(SearchState<Real>& state) const {
    const std::size_t S = widths.cell_state;
    for (std::size_t k = 0; k < options.layers; ++k) {
      kernels::copy_rows<Real>(decoder[k].current.view(), state.states.view().columns(k * S, S));
    }
  }

  // ---- the decoder over a batch

  void run_decoder(const Sentences& target, kernels::Scratch::Frame& frame) {
    PhaseTimes::Scope scope(&phases, Phase::kPacking);
    check_words(target, options.target_words, "target");
    const layers::Packing& packing = target_packing = layers::Packing(layers::lengths_with_end(target));
    target_words = layers::pack_words(packing, target);
    dropout.lay_out_target(packing);
    const std::size_t B = target.size(), Y = packing.words(), S = widths.cell_state;
    losses.resize(Y);
    scope.change(Phase::kDecoder);
    begin_rows(Y, B, frame, false);
    embed_words();

    const auto first_states = view_of(std::as_const(batch.initial_states), options.layers * S);
    for (std::size_t k = 0; k < options.layers; ++k) {
      kernels::gather_rows<Real>(first_states.columns(k * S, S), packing.order,
                                 packing.step(decoder[k].previous.view(), 0));
    }
    if (feeds()) {
      const auto fed = first_fed(B);
      if (feeds_start()) kernels::drop<Real>(dropout.mask(Place::kTargetWord).rows(0, B), fed);
      feed(fed, 0);
    }
    if (options.attends()) {
      std::size_t longest = 0;
      for (std::size_t b = 0; b < batch.sentences(); ++b) longest = std::max(longest, batch.source_length(b));
      attention->begin(Y, longest, dropout.mask(Place::kAttention));
    }
    input_products(Y);
    const auto memory = memory_of(batch);
    for (std::size_t t = 0; t < packing.steps(); ++t) {
      const std::size_t first = packing.first_row[t], R = packing.active[t];
      const std::span<const std::uint32_t> sentence(packing.order.data(), R);
      std::fill_n(positions.begin() + static_cast<std::ptrdiff_t>(first), R, static_cast<std::uint32_t>(t));
      if (!options.attends() && options.has_context()) {
        kernels::gather_rows<Real>(view_of(std::as_const(batch.contexts), widths.context), sentence,
                                   packing.step(context.view(), t));
      }
      step(first, R, memory, sentence, scope);
      if (!updates_first()) update(first, R);
      const std::size_t continuing = packing.continuing(t);
      if (continuing == 0) break;
      for (auto& layer : decoder) {
        kernels::copy_rows<Real>(packing.step(layer.current.view(), t, continuing),
                                 packing.step(layer.previous.view(), t + 1));
      }
      if (feeds()) feed(packing.step(readout.vector(), t, continuing), packing.first_row[t + 1]);
    }
  }

  // Embeds the reference words of the whole batch. The first word is preceded by <s> or by zeros. Word y_i, where y_0
  // is <s>, has one dropout mask wherever it is read.
  void embed_words() {
    if (options.feedback == Feedback::kOutput) return;
    const PhaseTimes::Scope scope(&phases, Phase::kEmbedding);
    const std::size_t Y = target_packing.words(), B = target_packing.sentences();
    previous_words.assign(Y, kStart);
    for (std::size_t t = 1; t < target_packing.steps(); ++t) {
      for (std::size_t p = 0; p < target_packing.active[t]; ++p) {
        previous_words[target_packing.first_row[t] + p] = target_words[target_packing.first_row[t - 1] + p];
      }
    }
    const auto embedded = previous_embedded.shape(Y, options.embedding);
    layers::embedding_forward<Real>(weights.target_embedding, previous_words, embedded);
    if (options.start == Start::kZero) kernels::zero_rows<Real>(embedded.row_range(0, B));
    kernels::drop<Real>(dropout.mask(Place::kTargetWord), embedded);
    place_previous(embedded);
    if (reads_current_word()) embed_current(target_words);
  }

  // ---- backward

  // Computes the losses and the gradient of the readout's vector, and of its inputs unless the vector is fed back.
  void readout_backward(double label_smoothing, kernels::Scratch::Frame& frame) {
    const PhaseTimes::Scope scope(&phases, Phase::kReadout);
    if (!feeds()) readout.forward(0, {readout_input.view()});
    readout.loss_and_backward(target_words, losses, frame, label_smoothing);
    const auto inputs = readout_input_gradient.shape(target_words.size(), widths.readout_input());
    if (feeds()) return;
    readout.backward(0, inputs);
    readout.accumulate({readout_input.view()});
  }

  void decoder_backward() {
    const layers::Packing& packing = target_packing;
    const std::size_t Y = packing.words();
    kernels::Scratch::Frame frame(scratch);
    packed.reset();
    for (std::size_t k = 0; k < options.layers; ++k) {
      DecoderLayer& layer = decoder[k];
      const std::size_t fixed = k == 0 ? static_width() : 0;
      const MatrixView<Real>& W_in = weights.decoder[k].W_in;
      layer.input_gradient.shape(Y, W_in.rows);
      layer.previous_gradient.zeros(Y, widths.cell_state);
      layer.current_gradient.zeros(Y, widths.cell_state);
      if (W_in.rows > fixed) layer.W_in.pack_transposed(W_in.row_range(fixed, W_in.rows - fixed), frame);
      layer.cell->begin_backward(frame);
    }
    context_gradient.zeros(Y, widths.context);
    if (options.attends()) {
      keys_gradient.zeros(encoder.rows().packing.words(), widths.score);
      attention->begin_backward(packing.sentences());
    }
    const auto memory = memory_of(batch);
    for (std::size_t t = packing.steps(); t-- > 0;) step_backward(t, memory);

    for (std::size_t k = 0; k < options.layers; ++k) {
      DecoderLayer& layer = decoder[k];
      const auto x_gradient = layer.x.view();
      const auto& of = gradient.decoder[k];
      layer.cell->accumulate(layer.previous.view(), x_gradient);
      kernels::accumulate_outer<Real>(layer.input.view(), x_gradient, of.W_in);
      kernels::add_column_sums<Real>(x_gradient.columns(0, of.b.size()), of.b);
    }
    if (static_width() > 0) {
      kernels::multiply_transposed<Real>(decoder[0].x.view(), weights.decoder[0].W_in.row_range(0, static_width()),
                                         state_part(decoder[0].input_gradient.view(), Part::kWord, 0, Y));
    }
    if (feeds()) readout.accumulate({readout_input.view()});
    if (options.attends()) {
      const DecoderLayer& last = decoder.back();
      attention->accumulate(top(options.attend_from == Step::kCurrent ? last.current : last.previous, 0, Y));
    }
  }

  void step_backward(std::size_t t, const layers::SoftAttentionMemory<Real>& memory) {
    const layers::Packing& packing = target_packing;
    const std::size_t first = packing.first_row[t], R = packing.active[t], continuing = packing.continuing(t);
    const std::span<const std::uint32_t> sentence(packing.order.data(), R);
    if (continuing > 0) {
      for (auto& layer : decoder) {
        kernels::copy_rows<Real>(packing.step(layer.previous_gradient.view(), t + 1),
                                 packing.step(layer.current_gradient.view(), t, continuing));
      }
    }
    DecoderLayer& last = decoder.back();
    const auto readout_gradients = readout_input_gradient.view();
    if (feeds()) {
      const auto t_gradient = packing.step(readout.vector_gradient(), t);
      if (continuing > 0) feed_backward(packing.first_row[t + 1], t_gradient.row_range(0, continuing));
      readout.backward(first, readout_gradients.row_range(first, R));
    }
    if (widths.readout_state > 0) {
      kernels::add<Real>(readout_part(readout_gradients, Part::kState, first, R),
                         top(updates_first() ? last.current_gradient : last.previous_gradient, first, R));
    }
    const auto c_gradient = context_gradient.view().row_range(first, R);
    if (widths.readout_context > 0) {
      kernels::copy_rows<Real>(readout_part(readout_gradients, Part::kContext, first, R), c_gradient);
    }
    const bool from_current = options.attend_from == Step::kCurrent;
    if (options.attends() && from_current) {
      attend_backward(first, R, memory, sentence, last.current_gradient);
    }
    update_backward(first, R);
    if (widths.state_context > 0) {
      kernels::add<Real>(state_part(decoder[0].input_gradient.view(), Part::kContext, first, R), c_gradient);
    }
    if (options.attends() && !from_current) {
      attend_backward(first, R, memory, sentence, last.previous_gradient);
    }
  }

  void attend_backward(std::size_t first, std::size_t R, const layers::SoftAttentionMemory<Real>& memory,
                       std::span<const std::uint32_t> sentence, const Buffer<Real>& states_gradient) {
    const PhaseTimes::Scope scope(&phases, Phase::kAttention);
    attention->backward(first, memory, sentence, context_gradient.view().row_range(first, R),
                        top(states_gradient, first, R), keys_gradient.view());
  }

  void update_backward(std::size_t first, std::size_t R) {
    for (std::size_t k = options.layers; k-- > 0;) {
      DecoderLayer& layer = decoder[k];
      const auto x_gradient = layer.x.view().row_range(first, R);  // takes the place of x
      layer.cell->backward(
          {first, R, x_gradient, layer.previous.view().row_range(first, R), layer.current.view().row_range(first, R)},
          layer.current_gradient.view().row_range(first, R), layer.previous_gradient.view().row_range(first, R));
      const std::size_t fixed = k == 0 ? static_width() : 0;
      const auto inputs = layer.input_gradient.view().row_range(first, R);
      if (inputs.cols > fixed) {
        kernels::multiply<Real>(x_gradient, layer.W_in, inputs.columns(fixed, inputs.cols - fixed));
      }
      if (k == 0) continue;
      kernels::drop<Real>(dropout.mask(Place::kDecoderOutput, k - 1).rows(first, R), inputs);
      kernels::add<Real>(inputs, top(decoder[k - 1].current_gradient, first, R));
    }
  }

  // ADDS to fed [R, H] the gradient of the vector that was fed to the step at row `first`.
  void feed_backward(std::size_t first, MatrixView<Real> fed) const {
    const auto inputs = decoder[0].input_gradient.view();
    if (widths.state_fed > 0) kernels::add<Real>(state_part(inputs, Part::kFed, first, fed.rows), fed);
    if (options.feedback != Feedback::kOutput) return;
    if (widths.state_word > 0) kernels::add<Real>(state_part(inputs, Part::kWord, first, fed.rows), fed);
    if (widths.readout_word > 0) {
      kernels::add<Real>(readout_part(readout_input_gradient.view(), Part::kWord, first, fed.rows), fed);
    }
  }

  void target_embedding_backward() {
    const PhaseTimes::Scope scope(&phases, Phase::kEmbedding);
    if (options.feedback == Feedback::kOutput) {  // the only embedded word is <s> before the first step
      if (!feeds_start()) return;
      const std::size_t B = target_packing.sentences();
      const auto fed = fed_first.zeros(B, widths.hidden);
      feed_backward(0, fed);
      kernels::drop<Real>(dropout.mask(Place::kTargetWord).rows(0, B), fed);
      embedding_backward(Side::kTarget, previous_words, fed);
      return;
    }
    const std::size_t Y = target_packing.words();
    const std::size_t first = options.start == Start::kZero ? target_packing.sentences() : 0;
    const auto add_words = [&](std::span<const WordId> words, ConstMatrixView<Real> words_gradient, std::size_t from) {
      embedding_backward(Side::kTarget, words.subspan(from), words_gradient.row_range(from, Y - from));
    };
    if (widths.readout_word > 0) {
      const auto inputs = readout_part(readout_input_gradient.view(), Part::kWord, 0, Y);
      kernels::drop<Real>(dropout.mask(Place::kTargetWord), inputs);
      add_words(previous_words, inputs, first);
    }
    if (widths.state_word == 0) return;
    const auto inputs = state_part(decoder[0].input_gradient.view(), Part::kWord, 0, Y);
    kernels::drop<Real>(dropout.mask(Place::kTargetWord, 0, reads_current_word() ? 1 : 0), inputs);
    if (reads_current_word()) {
      add_words(target_words, inputs, 0);
    } else {
      add_words(previous_words, inputs, first);
    }
  }

  enum class Side { kSource, kTarget };
  void embedding_backward(Side side, std::span<const WordId> words, ConstMatrixView<Real> words_gradient) {
    const bool target = side == Side::kTarget;
    const layers::EmbeddingWeights<Real>& of = target ? gradient.target_embedding : gradient.encoder.embedding;
    if (options.ties_output() && (target || options.ties_sides())) {
      layers::embedding_backward<Real>(of, words, words_gradient);
    } else {
      auto& table = tables[target && !options.ties_sides() ? 1 : 0];
      layers::embedding_backward<Real>(table.rows, of.bias, words, words_gradient);
    }
  }

  const Widths widths;
  ComposedWeights<Real> weights, gradient;
  kernels::Scratch scratch;
  Dropout dropout;
  SourceEncoder<Real> encoder;
  InitialStates<Real> initial_states;
  layers::Readout<Real> readout;
  std::vector<DecoderLayer> decoder;
  std::unique_ptr<layers::SoftAttention<Real>> attention;

  kernels::Scratch packed_memory;
  std::optional<kernels::Scratch::Frame> packed;  // the decoder's matrices, packed for the forward pass
  std::vector<WordId> target_words, previous_words;
  std::vector<std::uint32_t> positions;  // [Y] number of words written before
  Buffer<Real> previous_embedded, current_embedded, context, readout_input;
  Buffer<Real> fed_first;  // [B, H] the vector that is fed to the first step; in the backward pass its gradient

  Buffer<Real> readout_input_gradient, context_gradient;
  Buffer<Real> keys_gradient;
};

}  // namespace

template <class Real>
std::unique_ptr<Network<Real>> make_composed_network(const ModelOptions& options) {
  return std::make_unique<ComposedNetwork<Real>>(options);
}

template std::unique_ptr<Network<float>> make_composed_network(const ModelOptions&);
template std::unique_ptr<Network<double>> make_composed_network(const ModelOptions&);

}  // namespace rnnsearch::model

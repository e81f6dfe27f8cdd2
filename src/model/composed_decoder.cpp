#include "model/composed_decoder.h"

#include <algorithm>
#include <utility>

#include "model/decoder_stack.h"
#include "model/network.h"
#include "rnnsearch/kernels/attention.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/layers/soft_attention.h"

namespace rnnsearch::model {
namespace {

using kernels::Buffer;
using kernels::Scratch;

layers::WindowKind kind_of(AttentionWindow window) {
  if (window == AttentionWindow::kGlobal) return layers::WindowKind::kGlobal;
  return window == AttentionWindow::kLocalM ? layers::WindowKind::kLocalM : layers::WindowKind::kLocalP;
}

// The columns of the inputs of state and readout.
template <class Real>
struct Parts {
  MatrixView<Real> state, word, fed, context;
};

template <class Real>
class ComposedDecoder final : public Decoder<Real>, private DecoderParts<Real> {
 public:
  explicit ComposedDecoder(const DecoderParts<Real>& parts)
      : DecoderParts<Real>(parts), widths(options), stack(options, weights.decoder, gradient.decoder, dropout) {
    if (!options.attends()) return;
    attention = std::make_unique<layers::SoftAttention<Real>>(options.attention.score(),
                                                              kind_of(options.attention_window), options.window,
                                                              widths.score, weights.attention, gradient.attention);
  }

  void make_keys(Encoded<Real>& encoded) override {
    if (!attention->has_keys()) return;
    const auto annotations = view_of(std::as_const(encoded.annotations), widths.annotation);
    attention->keys(annotations, view_of(encoded.keys, annotations.rows, widths.score));
  }

  void forward(const Encoded<Real>& encoded, const TargetRows& target, Scratch::Frame& frame) override {
    PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    const layers::Packing& packing = target.packing;
    const std::size_t B = packing.sentences(), Y = packing.words();
    stack.unpack();
    begin_rows(Y, B, frame);
    embed_words(target);
    stack.load(view_of(encoded.initial_states, options.layers * widths.cell_state), packing.order);
    if (options.feeds()) {
      const auto fed = first_fed(B);
      if (feeds_start()) kernels::drop<Real>(dropout.mask(Place::kTargetWord).rows(0, B), fed);
      feed(fed, 0);
    }
    if (options.attends()) {
      std::size_t longest = 0;
      for (std::size_t b = 0; b < B; ++b) longest = std::max(longest, encoded.source_length(b));
      attention->begin(Y, longest, dropout.mask(Place::kAttention));
    }
    stack.multiply_known();
    const auto memory = memory_of(encoded);
    for (std::size_t t = 0; t < packing.steps(); ++t) {
      const std::size_t first = packing.first_row[t], R = packing.active[t], continuing = packing.continuing(t);
      const std::span<const std::uint32_t> sentence(packing.order.data(), R);
      std::fill_n(positions.begin() + static_cast<std::ptrdiff_t>(first), R, static_cast<std::uint32_t>(t));
      if (options.has_fixed_context()) {
        kernels::gather_rows<Real>(view_of(encoded.contexts, widths.context), sentence,
                                   packing.step(context.view(), t));
      }
      step(first, R, memory, sentence, scope);
      if (!options.updates_first()) stack.update(first, R);
      if (continuing == 0) break;
      stack.carry(packing, t);
      if (options.feeds()) feed(packing.step(readout.vector(), t, continuing), packing.first_row[t + 1]);
    }
  }

  layers::ReadoutInput<Real> for_readout() const override { return {readout_input.view()}; }

  void backward(const Encoded<Real>& encoded, const TargetRows& target, MatrixView<Real> inputs,
                SourceGradients<Real>& gradients) override {
    PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    const layers::Packing& packing = target.packing;
    const std::size_t Y = packing.words();
    {
      Scratch::Frame frame(scratch);
      stack.begin_backward(frame);
      gradients.contexts = context_gradient.zeros(Y, widths.context);
      if (options.attends()) attention->begin_backward(packing.sentences(), gradients.guide);
      const auto memory = memory_of(encoded);
      for (std::size_t t = packing.steps(); t-- > 0;) step_backward(packing, t, memory, inputs, gradients.keys);
      stack.accumulate();
    }
    gradients.states = stack.previous_gradients();
    if (options.feeds()) readout.accumulate(for_readout());
    if (options.attends()) {
      attention->accumulate(attends_from_current() ? stack.current(0, Y) : stack.previous(0, Y));
      scope.change(Phase::kAttention);
      const layers::SentenceRows steps(packing);
      kernels::annotations_backward<Real>(encoded.offsets, {steps.offsets, steps.rows}, attention->context_weights(),
                                          gradients.contexts, gradients.annotations);
    }
    scope.change(Phase::kEmbedding);
    embedding_backward(target, inputs);
  }

  void keys_backward(const Encoded<Real>& encoded, const SourceGradients<Real>& gradients) override {
    if (attention->has_keys()) {
      attention->keys_backward(view_of(encoded.annotations, widths.annotation), gradients.keys, gradients.annotations);
    } else {
      kernels::add<Real>(gradients.keys, gradients.annotations);
    }
  }

  ConstMatrixView<Real> alpha() const override { return attention ? attention->alpha() : ConstMatrixView<Real>(); }
  ConstMatrixView<Real> contexts() const override { return context.view(); }

  void start(SearchState<Real>& state, bool pack) override {
    if (options.feeds())
      kernels::copy_rows<Real>(first_fed(state.rows()), state.fed.shape(state.rows(), widths.hidden));
    if (pack) stack.unpack();
  }

  void predict(const Encoded<Real>& encoded, SearchState<Real>& state, MatrixView<Real> alpha_out,
               Scratch::Frame& frame) override {
    const std::size_t R = state.rows();
    PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    begin_step(state, frame);
    embed_previous_of(state);
    std::size_t longest = 0;
    for (const auto b : state.sentence) longest = std::max(longest, encoded.source_length(b));
    if (options.attends()) {
      attention->begin(R, longest);
    } else if (options.has_fixed_context()) {
      kernels::gather_rows<Real>(view_of(encoded.contexts, widths.context), state.sentence, context.view());
    }
    if (options.updates_first()) stack.multiply_known();
    step(0, R, memory_of(encoded), state.sentence, scope);
    if (options.updates_first()) {
      stack.store(state.states.view());
      if (options.feeds()) kernels::copy_rows<Real>(readout.vector(), state.fed.view());
    } else {
      kernels::copy_rows<Real>(context.view(), state.context.shape(R, widths.context));
    }
    if (!alpha_out.data) return;
    kernels::zero_rows<Real>(alpha_out);
    if (options.attends()) kernels::copy_rows<Real>(alpha(), alpha_out.columns(0, longest));
  }

  void advance(SearchState<Real>& state) override {
    if (options.updates_first()) return;
    const PhaseTimes::Scope scope(&phases, Phase::kDecoder);
    Scratch::Frame frame(scratch);
    begin_step(state, frame);
    if (reads_current_word()) {
      embed_current(state.word);
    } else {
      embed_previous_of(state);
    }
    copy(state.context.view(), state_parts(stack.input()).context);
    stack.multiply_known();
    stack.update(0, state.rows());
    stack.store(state.states.view());
  }

 private:
  /// Whether the embedding of <s> is fed to the first step.
  bool feeds_start() const { return options.feeds_output() && options.start == Start::kEmbedded; }
  bool attends_from_current() const { return options.attend_from == Step::kCurrent; }
  bool reads_current_word() const {
    return options.state_word == Step::kCurrent && options.feedback == Feedback::kWord && !options.updates_first();
  }

  // ---- inputs of state and readout. A part that is no input has no columns.

  Parts<Real> state_parts(const MatrixView<Real>& rows) const {
    const std::size_t word = widths.state_word, fed = widths.state_fed;
    return {{}, rows.columns(0, word), rows.columns(word, fed), rows.columns(word + fed, widths.state_context)};
  }
  Parts<Real> readout_parts(const MatrixView<Real>& rows) const {
    const std::size_t state = widths.readout_state, word = widths.readout_word;
    return {rows.columns(0, state), rows.columns(state, word), {}, rows.columns(state + word, widths.readout_context)};
  }
  static void copy(ConstMatrixView<Real> from, MatrixView<Real> part) {
    if (part.cols > 0) kernels::copy_rows<Real>(from, part);
  }
  static void add(ConstMatrixView<Real> part, MatrixView<Real> to) {
    if (part.cols > 0) kernels::add<Real>(part, to);
  }

  // later: by how many time steps these words come after the words y_{i-1} of the rows.
  void drop_words(std::span<const WordId> of, std::uint32_t later, MatrixView<Real> embedded) const {
    kernels::drop<Real>(dropout.mask(Place::kTargetWord, 0, later), embedded);
    kernels::drop_rows<Real>(dropout.mask_of_words(Place::kWholeTargetWord, of, later), embedded);
  }

  // Writes the embeddings of the previous words of all rows into the inputs that read them. Rows for which
  // is_first(row) holds have none before: they get 0 or the embedding of <s>. Word y_i, where y_0 is <s>, has one
  // dropout mask wherever it is read.
  template <class IsFirst>
  void embed_previous(std::span<const WordId> previous, const IsFirst& is_first) {
    if (options.feedback == Feedback::kOutput) return;
    const PhaseTimes::Scope scope(&phases, Phase::kEmbedding);
    const auto embedded = previous_embedded.shape(previous.size(), options.embedding);
    words.forward(previous, embedded);
    for (std::size_t i = 0; options.start == Start::kZero && i < previous.size(); ++i) {
      if (is_first(i)) std::fill_n(embedded.row(i), embedded.cols, Real{0});
    }
    drop_words(previous, 0, embedded);
    copy(embedded, readout_parts(readout_input.view()).word);
    if (!reads_current_word()) copy(embedded, state_parts(stack.input()).word);
  }
  void embed_previous_of(const SearchState<Real>& state) {
    embed_previous(state.previous, [&](std::size_t row) { return state.written[row] == 0; });
  }
  void embed_current(std::span<const WordId> current) {
    if (widths.state_word == 0) return;
    const PhaseTimes::Scope scope(&phases, Phase::kEmbedding);
    const auto embedded = current_embedded.shape(current.size(), options.embedding);
    words.forward(current, embedded);
    drop_words(current, 1, embedded);
    copy(embedded, state_parts(stack.input()).word);
  }

  // Embeds the reference words of the whole batch.
  void embed_words(const TargetRows& target) {
    previous_words = layers::one_step_before(target.packing, target.words, kStart);
    const std::size_t B = target.packing.sentences();
    embed_previous(previous_words, [B](std::size_t row) { return row < B; });
    if (reads_current_word()) embed_current(target.words);
  }

  void embedding_backward(const TargetRows& target, MatrixView<Real> inputs) {
    const std::size_t B = target.packing.sentences(), Y = target.packing.words();
    if (options.feedback == Feedback::kOutput) {  // the only embedded word is <s> before the first step
      if (!feeds_start()) return;
      const auto fed = fed_first.zeros(B, widths.hidden);
      feed_backward(0, inputs, fed);
      kernels::drop<Real>(dropout.mask(Place::kTargetWord).rows(0, B), fed);
      words.backward(std::vector<WordId>(B, kStart), fed);
      return;
    }
    const std::size_t first = options.start == Start::kZero ? B : 0;
    const auto add_words = [&](std::span<const WordId> of, MatrixView<Real> part, std::uint32_t later) {
      if (part.cols == 0) return;
      const std::size_t from = later == 1 ? 0 : first;
      drop_words(of, later, part);
      words.backward(of.subspan(from), part.row_range(from, Y - from));
    };
    add_words(previous_words, readout_parts(inputs).word, 0);
    const std::uint32_t later = reads_current_word() ? 1 : 0;
    add_words(later == 1 ? target.words : previous_words, state_parts(stack.input_gradient()).word, later);
  }

  // The vector that is fed to the first step of B sentences, [B, H]: zero, or the embedding of <s>.
  MatrixView<Real> first_fed(std::size_t B) {
    const auto fed = fed_first.zeros(B, widths.hidden);
    if (feeds_start()) words.forward(std::vector<WordId>(B, kStart), fed);
    return fed;
  }

  // Writes the readout's vector of the previous step, [R, H], into the inputs that read it.
  void feed(ConstMatrixView<Real> fed, std::size_t first) {
    const auto state = state_parts(stack.input().row_range(first, fed.rows));
    copy(fed, state.fed);
    if (options.feedback != Feedback::kOutput) return;
    copy(fed, state.word);
    copy(fed, readout_parts(readout_input.view().row_range(first, fed.rows)).word);
  }
  // ADDS to fed [R, H] the gradient of the vector that was fed to the step at row `first`.
  void feed_backward(std::size_t first, MatrixView<Real> inputs, MatrixView<Real> fed) const {
    const auto state = state_parts(stack.input_gradient().row_range(first, fed.rows));
    add(state.fed, fed);
    if (options.feedback != Feedback::kOutput) return;
    add(state.word, fed);
    add(readout_parts(inputs.row_range(first, fed.rows)).word, fed);
  }

  // ---- one step of R rows from `first` on. The previous state is in the stack and in the fed parts.

  void begin_rows(std::size_t Y, std::size_t widest, Scratch::Frame& frame) {
    stack.begin(Y, widest, frame);
    context.shape(Y, widths.context);
    readout_input.shape(Y, widths.readout_input());
    positions.resize(Y);
  }
  void begin_step(const SearchState<Real>& state, Scratch::Frame& frame) {
    begin_rows(state.rows(), state.rows(), frame);
    stack.load(state.states.view());
    if (options.feeds()) feed(state.fed.view(), 0);
    std::copy(state.written.begin(), state.written.end(), positions.begin());
  }

  // The whole step, except for the update of the state if the readout comes first.
  void step(std::size_t first, std::size_t R, const layers::SoftAttentionMemory<Real>& memory,
            std::span<const std::uint32_t> sentence, PhaseTimes::Scope& scope) {
    const auto c = context.view().row_range(first, R);
    const auto attend = [&](ConstMatrixView<Real> states) {
      const PhaseTimes::Scope attending(&phases, Phase::kAttention);
      attention->forward(first, memory, sentence, states, std::span(positions).subspan(first, R), c);
    };
    if (options.attends() && !attends_from_current()) attend(stack.previous(first, R));
    copy(c, state_parts(stack.input().row_range(first, R)).context);
    if (options.updates_first()) stack.update(first, R);
    if (options.attends() && attends_from_current()) attend(stack.current(first, R));
    const auto inputs = readout_input.view().row_range(first, R);
    copy(options.updates_first() ? stack.current(first, R) : stack.previous(first, R), readout_parts(inputs).state);
    copy(c, readout_parts(inputs).context);
    if (!options.feeds()) return;
    scope.change(Phase::kReadout);
    readout.forward(first, {inputs});
    scope.change(Phase::kDecoder);
  }

  void step_backward(const layers::Packing& packing, std::size_t t, const layers::SoftAttentionMemory<Real>& memory,
                     MatrixView<Real> inputs, MatrixView<Real> keys_gradient) {
    const std::size_t first = packing.first_row[t], R = packing.active[t], continuing = packing.continuing(t);
    if (continuing > 0) stack.carry_backward(packing, t);
    const auto readout_gradient = inputs.row_range(first, R);
    if (options.feeds()) {
      const auto fed = packing.step(readout.vector_gradient(), t);
      if (continuing > 0) feed_backward(packing.first_row[t + 1], inputs, fed.row_range(0, continuing));
      readout.backward(first, readout_gradient);
    }
    const auto previous = stack.previous_gradient(first, R), current = stack.current_gradient(first, R);
    add(readout_parts(readout_gradient).state, options.updates_first() ? current : previous);
    const auto c = context_gradient.view().row_range(first, R), from_readout = readout_parts(readout_gradient).context;
    if (from_readout.cols > 0) kernels::copy_rows<Real>(from_readout, c);
    const auto attend_backward = [&](MatrixView<Real> states) {
      const PhaseTimes::Scope scope(&phases, Phase::kAttention);
      attention->backward(first, memory, {packing.order.data(), R}, c, states, keys_gradient);
    };
    if (options.attends() && attends_from_current()) attend_backward(current);
    stack.update_backward(first, R);
    add(state_parts(stack.input_gradient().row_range(first, R)).context, c);
    if (options.attends() && !attends_from_current()) attend_backward(previous);
  }

  layers::SoftAttentionMemory<Real> memory_of(const Encoded<Real>& encoded) const {
    if (!options.attends()) return {};
    const auto annotations = view_of(encoded.annotations, widths.annotation);
    return {encoded.offsets, annotations, attention->has_keys() ? view_of(encoded.keys, widths.score) : annotations};
  }

  using DecoderParts<Real>::options, DecoderParts<Real>::weights, DecoderParts<Real>::gradient;
  using DecoderParts<Real>::words, DecoderParts<Real>::readout, DecoderParts<Real>::dropout;
  using DecoderParts<Real>::scratch, DecoderParts<Real>::phases;

  const Widths widths;
  DecoderStack<Real> stack;
  std::unique_ptr<layers::SoftAttention<Real>> attention;

  std::vector<WordId> previous_words;    // [Y] y_{i-1}
  std::vector<std::uint32_t> positions;  // [Y] number of words written before
  Buffer<Real> previous_embedded, current_embedded, context, context_gradient, readout_input;
  Buffer<Real> fed_first;  // [B, H] the vector that is fed to the first step; in the backward pass its gradient
};

}  // namespace

template <class Real>
std::unique_ptr<Decoder<Real>> make_composed_decoder(const DecoderParts<Real>& parts) {
  return std::make_unique<ComposedDecoder<Real>>(parts);
}

template std::unique_ptr<Decoder<float>> make_composed_decoder(const DecoderParts<float>&);
template std::unique_ptr<Decoder<double>> make_composed_decoder(const DecoderParts<double>&);

}  // namespace rnnsearch::model

#include "model/impl.h"

#include <algorithm>
#include <utility>

#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/kernels/scores.h"

namespace rnnsearch::model {
namespace {

constexpr WordId kNone = 0xffffffff;  // the word before the first one

void add_columns(ConstMatrix columns, Matrix to) {
  if (columns.cols > 0) kernels::add(columns, to);
}

}  // namespace

Decoder::Decoder(const DecoderInputs& parts)
    : DecoderInputs(parts), widths_(options), stack_(options, weights.decoder, gradient.decoder, dropout, scratch) {
  if (!options.attends()) return;
  attention_ =
      std::make_unique<layers::SoftAttention>(options.attention.score(), options.attention_window, options.window,
                                              widths_.score, weights.attention, gradient.attention);
}

void Decoder::make_keys(Encoded& encoded) {
  const ConstMatrix annotations = encoded.annotations.view();
  const bool rounds = kernels::precision() != kernels::Precision::kFloat32;
  const std::size_t X = annotations.rows, A = attention_->has_keys() ? widths_.score : 0;
  Frame frame(scratch);
  const auto keys = rounds ? frame.matrix(X, A) : encoded.keys.shape(X, A);
  if (A > 0) attention_->keys(annotations, keys);
  encoded.rounded_annotations.shape(0, 0);
  encoded.rounded_keys.shape(0, 0);
  if (!rounds) return;
  encoded.keys.shape(0, 0);
  kernels::round_to_bfloat16(annotations, encoded.rounded_annotations.shape(X, annotations.cols));
  kernels::round_to_bfloat16(keys, encoded.rounded_keys.shape(X, A));
}

kernels::AttentionMemory Decoder::memory_of(const Encoded& encoded) const {
  if (!options.attends()) return {};
  const auto annotations = encoded.annotations.view();
  const auto rounded = encoded.rounded_annotations.view();
  if (!attention_->has_keys()) return {encoded.offsets, annotations, annotations, rounded, rounded};
  return {encoded.offsets, annotations, encoded.keys.view(), rounded, encoded.rounded_keys.view()};
}

void Decoder::pack(Frame& frame) {
  stack_.pack(frame);
  if (attention_) attention_->pack(frame);
}

void Decoder::begin_rows(std::size_t Y, std::size_t widest, Frame& frame) {
  stack_.begin(Y, widest, frame);
  context_.shape(Y, widths_.context);
  if (options.feeds()) fed_.shape(Y, widths_.hidden);
  positions_.resize(Y);
}

void Decoder::forward(const Encoded& encoded, const TargetRows& target) {
  PhaseTimes::Scope scope(&phases, Phase::kDecoder);
  const layers::Packing& packing = target.packing;
  const std::size_t B = packing.sentences(), Y = packing.words();
  packed_.reset();
  Frame frame(scratch);
  pack(frame);
  begin_rows(Y, B, frame);
  embed_previous(layers::one_step_before(packing, target.words, kNone));
  if (reads_current_word()) embed(target.words, 1, current_);
  stack_.load(encoded.initial_states.view(), packing.order);
  if (options.feeds()) {
    const auto fed = first_fed(B);
    if (feeds_start()) kernels::drop(dropout.mask(Activations::kTargetWord).rows(0, B), fed);
    kernels::copy_rows(fed, packing.step(fed_.view(), 0));
  }
  std::size_t longest = 0;
  for (std::size_t b = 0; b < B; ++b) longest = std::max(longest, encoded.source_length(b));
  if (options.attends()) attention_->begin(Y, longest, dropout.mask(Activations::kAttention));
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    const auto first = static_cast<std::ptrdiff_t>(packing.first_row[t]);
    std::fill_n(positions_.begin() + first, packing.active[t], static_cast<std::uint32_t>(t));
    if (!options.has_fixed_context()) continue;
    kernels::gather_rows(encoded.contexts.view(), std::span(packing.order).first(packing.active[t]),
                         packing.step(context_.view(), t));
  }
  stack_.project_words(state_words().rows(), state_contexts(B), frame);
  const auto memory = memory_of(encoded);
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    const std::size_t first = packing.first_row[t], R = packing.active[t], continuing = packing.continuing(t);
    step(first, R, memory, {packing.order.data(), R}, scope);
    if (!options.updates_first()) stack_.update(first, R, continuing, state_inputs(first, R));
    if (continuing == 0) break;
    stack_.carry(packing, t);
    if (options.feeds()) {
      kernels::copy_rows(packing.step(readout.vector(), t, continuing), packing.step(fed_.view(), t + 1));
    }
  }
}

std::size_t Decoder::embeddings() const {
  const bool known = widths_.state_word > 0 && !feeds_words();
  return known ? state_words().distinct.words.size() : positions_.size();
}

void Decoder::backward(const Encoded& encoded, const TargetRows& target, Matrix inputs, SourceGradients& gradients) {
  PhaseTimes::Scope scope(&phases, Phase::kDecoder);
  const layers::Packing& packing = target.packing;
  const std::size_t B = packing.sentences(), Y = packing.words();
  Frame frame(scratch);
  stack_.begin_backward(frame);
  gradients.contexts = widths_.readout_context > 0 ? of_context(inputs) : context_gradient_.zeros(Y, widths_.context);
  if (options.attends()) attention_->begin_backward(B, frame, gradients.guide);
  const auto memory = memory_of(encoded);
  for (std::size_t t = packing.steps(); t-- > 0;) step_backward(packing, t, memory, inputs, gradients);
  const auto words_gradient = frame.matrix(state_words().distinct.words.size(), options.embedding);
  stack_.accumulate(state_words().rows(), state_contexts(B), state_inputs(0, Y), packing, words_gradient,
                    gradients.contexts.row_range(0, B), frame);
  gradients.states = stack_.initial_gradients();
  if (options.feeds()) readout.accumulate(for_readout());
  if (options.attends()) {
    attention_->accumulate(attends_from_current() ? stack_.current(0, Y) : stack_.previous(0, Y));
    scope.change(Phase::kAttention);
    const layers::SentenceRows steps(packing);
    kernels::annotations_backward({encoded.offsets, steps.offsets, steps.rows, attention_->context_weights(),
                                   gradients.contexts, gradients.annotations});
  }
  scope.change(Phase::kEmbedding);
  if (feeds_words()) return start_backward(B, inputs);
  if (widths_.readout_word > 0) {
    embedding_backward(previous_, layers::add_repeated(previous_.rows(), of_word(inputs), frame));
  }
  if (widths_.state_word > 0) embedding_backward(state_words(), words_gradient);
}

void Decoder::keys_backward(const Encoded& encoded, const SourceGradients& gradients) {
  if (attention_->has_keys()) {
    attention_->keys_backward(encoded.annotations.view(), gradients.keys, gradients.annotations);
  } else {
    kernels::add(gradients.keys, gradients.annotations);
  }
}

// ---- a search

void Decoder::start(SearchState& state, bool to_pack) {
  const std::size_t R = state.rows();
  if (options.feeds()) kernels::copy_rows(first_fed(R), state.fed.shape(R, widths_.hidden));
  if (to_pack) packed_.reset();
}

void Decoder::begin_step(const SearchState& state, Frame& frame) {
  if (!packed_) {
    packed_.emplace(packed_memory_);
    pack(*packed_);
  }
  begin_rows(state.rows(), state.rows(), frame);
  stack_.load(state.states.view());
  if (options.feeds()) kernels::copy_rows(state.fed.view(), fed_.view());
  std::copy(state.written.begin(), state.written.end(), positions_.begin());
}

void Decoder::predict(const Encoded& encoded, SearchState& state, Matrix alpha_out, Frame& frame) {
  const std::size_t R = state.rows();
  PhaseTimes::Scope scope(&phases, Phase::kDecoder);
  begin_step(state, frame);
  embed_previous_of(state);
  std::size_t longest = 0;
  for (const auto b : state.sentence) longest = std::max(longest, encoded.source_length(b));
  if (options.attends()) {
    attention_->begin(R, longest);
  } else if (options.has_fixed_context()) {
    kernels::gather_rows(encoded.contexts.view(), state.sentence, context_.view());
  }
  if (options.updates_first()) stack_.project_words(state_words().rows(), state_contexts(R), frame);
  step(0, R, memory_of(encoded), state.sentence, scope);
  if (options.updates_first()) {
    stack_.store(state.states.view());
    if (options.feeds()) kernels::copy_rows(readout.vector(), state.fed.view());
  } else {
    kernels::copy_rows(context_.view(), state.context.shape(R, widths_.context));
  }
  if (!alpha_out.data) return;
  kernels::zero_rows(alpha_out);
  if (options.attends()) kernels::copy_rows(alpha(), alpha_out.columns(0, longest));
}

void Decoder::advance(SearchState& state) {
  if (options.updates_first()) return;
  const PhaseTimes::Scope scope(&phases, Phase::kDecoder);
  const std::size_t R = state.rows();
  Frame frame(scratch);
  begin_step(state, frame);
  if (reads_current_word()) {
    embed(state.word, 1, current_);
  } else {
    embed_previous_of(state);
  }
  if (widths_.context > 0) kernels::copy_rows(state.context.view(), context_.view());
  stack_.project_words(state_words().rows(), state_contexts(R), frame);
  stack_.update(0, R, R, state_inputs(0, R));
  stack_.store(state.states.view());
}

// ---- one step

void Decoder::step(std::size_t first, std::size_t R, const kernels::AttentionMemory& memory,
                   std::span<const std::uint32_t> sentence, PhaseTimes::Scope& scope) {
  const auto attend = [&](ConstMatrix states) {
    const PhaseTimes::Scope attending(&phases, Phase::kAttention);
    attention_->forward(first, memory, sentence, states, std::span(positions_).subspan(first, R),
                        context_.view().row_range(first, R));
  };
  if (options.attends() && !attends_from_current()) attend(stack_.previous(first, R));
  if (options.updates_first()) stack_.update(first, R, R, state_inputs(first, R));
  if (options.attends() && attends_from_current()) attend(stack_.current(first, R));
  if (!options.feeds()) return;
  scope.change(Phase::kReadout);
  readout.forward(first, readout_input(first, R));
  scope.change(Phase::kDecoder);
}

void Decoder::step_backward(const layers::Packing& packing, std::size_t t, const kernels::AttentionMemory& memory,
                            Matrix inputs, SourceGradients& gradients) {
  const std::size_t first = packing.first_row[t], R = packing.active[t], continuing = packing.continuing(t);
  stack_.begin_step_backward(R, continuing);
  const auto readout_gradient = inputs.row_range(first, R);
  if (options.feeds()) {
    const auto fed = packing.step(readout.vector_gradient(), t, continuing);
    if (continuing > 0) feed_backward(packing.first_row[t + 1], inputs, fed);
    readout.backward(first, readout_gradient);
  }
  const auto previous = stack_.previous_gradient(), current = stack_.current_gradient();
  add_columns(of_state(readout_gradient), options.updates_first() ? current : previous);
  const auto c = gradients.contexts.row_range(first, R);
  const auto attend_backward = [&](Matrix states) {
    const PhaseTimes::Scope scope(&phases, Phase::kAttention);
    attention_->backward(first, memory, {packing.order.data(), R}, c, states, gradients.keys);
  };
  if (options.attends() && attends_from_current()) attend_backward(current);
  stack_.update_backward(first, options.updates_first() ? R : continuing);
  if (!options.attends()) return;
  const auto others = stack_.others_gradient().row_range(0, R);
  add_columns(others.columns(others.cols - widths_.state_context, widths_.state_context), c);
  if (!attends_from_current()) attend_backward(previous);
}

// ---- words

// of_rows: kNone where no word comes before, whose embedding is 0 or that of <s>. Word y_i, where y_0 is <s>, has one
// dropout mask wherever it is read.
void Decoder::embed(std::vector<WordId> of_rows, std::uint32_t later, WordRows& to) {
  const PhaseTimes::Scope scope(&phases, Phase::kEmbedding);
  const bool drops = dropout.mask(Activations::kTargetWord).drops() ||
                     dropout.mask_of_words(Activations::kWholeTargetWord, of_rows).drops();
  to.distinct = drops ? layers::DistinctWords::each(of_rows) : layers::DistinctWords(of_rows);
  to.zeros = 0;
  to.later = later;
  auto& list = to.distinct.words;
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == kNone) starts.push_back(i);
  }
  for (const std::size_t i : starts) list[i] = kStart;
  const auto embedded = to.embedded.shape(list.size(), options.embedding);
  words.forward(list, embedded);
  if (options.start == Start::kZero) {
    for (const std::size_t i : starts) std::fill_n(embedded.row(i), embedded.cols, Real{0});
    to.zeros = starts.size();
  }
  drop(to, embedded);
}

void Decoder::embed_previous(std::vector<WordId> of_rows) {
  if (feeds_words()) return;
  embed(std::move(of_rows), 0, previous_);
  const auto rows = previous_.rows();
  if (widths_.readout_word == 0 || rows.index.empty()) return;
  kernels::gather_rows(rows.distinct, rows.index, previous_rows_.shape(rows.index.size(), options.embedding));
}

void Decoder::embed_previous_of(const SearchState& state) {
  std::vector<WordId> of_rows = state.previous;
  for (std::size_t i = 0; i < of_rows.size(); ++i) {
    if (state.written[i] == 0) of_rows[i] = kNone;
  }
  embed_previous(std::move(of_rows));
}

void Decoder::drop(const WordRows& from, Matrix embedded) const {
  kernels::drop(dropout.mask(Activations::kTargetWord, 0, from.later), embedded);
  kernels::drop_rows(dropout.mask_of_words(Activations::kWholeTargetWord, from.distinct.words, from.later), embedded);
}

// embedded [D, m]: the gradient, overwritten.
void Decoder::embedding_backward(const WordRows& from, Matrix embedded) const {
  const std::size_t D = embedded.rows;
  drop(from, embedded);
  words.backward(std::span(from.distinct.words).subspan(from.zeros), embedded.row_range(from.zeros, D - from.zeros));
}

// If the vector of the readout takes the word's place, the only embedded word is <s> before the first step.
void Decoder::start_backward(std::size_t B, Matrix inputs) {
  if (!feeds_start()) return;
  const auto fed = fed_first_.zeros(B, widths_.hidden);
  feed_backward(0, inputs, fed);
  kernels::drop(dropout.mask(Activations::kTargetWord).rows(0, B), fed);
  words.backward(std::vector<WordId>(B, kStart), fed);
}

// ---- what is fed back

// The vector that is fed to the first step of B sentences, [B, H]: zero, or the embedding of <s>.
Matrix Decoder::first_fed(std::size_t B) {
  const auto fed = fed_first_.zeros(B, widths_.hidden);
  if (feeds_start()) words.forward(std::vector<WordId>(B, kStart), fed);
  return fed;
}

// ADDS to fed [R, H] the gradient of the vector that was fed to the step at row `first`, the last one that went back.
void Decoder::feed_backward(std::size_t first, Matrix inputs, Matrix fed) const {
  const auto state = stack_.others_gradient().row_range(0, fed.rows);
  const std::size_t word = feeds_words() ? widths_.state_word : 0;
  add_columns(state.columns(word, widths_.state_fed), fed);
  if (!feeds_words()) return;
  add_columns(state.columns(0, word), fed);
  add_columns(of_word(inputs.row_range(first, fed.rows)), fed);
}

// ---- inputs of state and readout

Decoder::Blocks Decoder::state_inputs(std::size_t first, std::size_t R) const {
  Blocks blocks;
  if (feeds_words() && widths_.state_word > 0) blocks.push_back(fed_.view().row_range(first, R));
  if (widths_.state_fed > 0) blocks.push_back(fed_.view().row_range(first, R));
  if (options.attends() && widths_.state_context > 0) blocks.push_back(context_.view().row_range(first, R));
  return blocks;
}

// Those of all steps are those of the first one.
ConstMatrix Decoder::state_contexts(std::size_t B) const {
  const bool reads = options.has_fixed_context() && widths_.state_context > 0;
  return reads ? context_.view().row_range(0, B) : Matrix();
}

layers::ReadoutInput Decoder::readout_input(std::size_t first, std::size_t R) const {
  layers::ReadoutInput blocks;
  if (widths_.readout_state > 0) {
    blocks.push_back(options.updates_first() ? stack_.current(first, R) : stack_.previous(first, R));
  }
  if (widths_.readout_word > 0) {
    const bool by_row = previous_.rows().index.empty();
    const auto& rows = feeds_words() ? fed_ : by_row ? previous_.embedded : previous_rows_;
    blocks.push_back(rows.view().row_range(first, R));
  }
  if (widths_.readout_context > 0) blocks.push_back(context_.view().row_range(first, R));
  return blocks;
}

}  // namespace rnnsearch::model

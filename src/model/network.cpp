#include "model/network.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {
namespace {

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

template <class Real>
kernels::Buffer<Real> zeros(std::size_t size) {
  kernels::Buffer<Real> block;
  block.zeros(1, size);
  return block;
}

}  // namespace

template <class Real>
Network<Real>::Network(const ModelOptions& chosen)
    : options(chosen),
      layout(layout_of(chosen)),
      parameter_block(zeros<Real>(layout.size)),
      gradient_block(zeros<Real>(layout.dense)),
      widths(chosen),
      weights(weights_in(chosen, parameters())),
      gradient(weights_in(chosen, gradients())),
      dropout(options),
      source_words((list_tables(), table_of(weights.encoder.embedding, gradient.encoder.embedding, false))),
      encoder(options, weights.encoder, gradient.encoder, source_words, dropout, scratch),
      initial_states(options, weights.initial, gradient.initial),
      readout(readout_kind_of(options), weights.readout, gradient.readout, scratch),
      decoder({options, weights, gradient, table_of(weights.target_embedding, gradient.target_embedding, true), readout,
               dropout, scratch, phases}) {
  list_parts();
}

template <class Real>
void Network<Real>::list_tables() {
  const auto add = [&](const char* name, bool source, bool target_side) {
    const Parameter& E = layout.find(name);
    if (E.offset >= layout.dense) tables.push_back({E.offset, source, target_side, {E.rows(), E.cols()}});
  };
  if (options.ties_sides()) {
    add("embedding", true, true);
  } else {
    add("encoder/embedding", true, false);
    add("decoder/embedding", false, true);
  }
}

template <class Real>
EmbeddingTable<Real> Network<Real>::table_of(const layers::EmbeddingWeights<Real>& table,
                                             const layers::EmbeddingWeights<Real>& table_gradient, bool target_side) {
  const bool dense = options.ties_output() && (target_side || options.ties_sides());
  const std::size_t number = target_side && !options.ties_sides() ? 1 : 0;
  return {table, table_gradient, dense ? nullptr : &tables[number].rows};
}

template <class Real>
void Network<Real>::list_parts() {
  PartStarts from;
  layout_of(options, &from);
  const auto add = [&](Stage stage, const GradientPart& part) {
    parts.push_back(part);
    stages.push_back(stage);
  };
  const auto add_range = [&](Stage stage, std::size_t first, std::size_t end) { add(stage, {first, end - first}); };
  const GradientPart dense_table{from.table, layout.dense - from.table};
  add_range(options.feeds() ? Stage::kDecoder : Stage::kReadout, from.readout, from.table);
  add_range(Stage::kDecoder, from.decoder, from.readout);
  if (!options.ties_sides()) add(Stage::kDecoder, options.ties_output() ? dense_table : GradientPart{0, 0, 1});
  add_range(Stage::kSource, from.between, from.decoder);
  add(Stage::kSourceWords, options.ties_sides() && options.ties_output() ? dense_table : GradientPart{0, 0, 0});
  if (options.bidirectional()) add_range(Stage::kFirstDirection, 0, from.backward_encoder);
  add_range(Stage::kEncoder, from.backward_encoder, from.between);
}

template <class Real>
void Network<Real>::finish(const Finished& finished, Stage stage) {
  for (; parts_finished < parts.size() && stages[parts_finished] <= stage; ++parts_finished) {
    if (finished) finished(parts_finished);
  }
}

template <class Real>
void Network<Real>::encode(const Sentences& source, Encoded<Real>& encoded) {
  encoder.forward(source, encoded, phases);
  const PhaseTimes::Scope scope(&phases, Phase::kEncoder);
  if (options.attends()) decoder.make_keys(encoded);
  initial_states.forward(encoder, encoded);
}

template <class Real>
void Network<Real>::run_decoder(const Sentences& target_sentences, kernels::Scratch::Frame& frame) {
  {
    const PhaseTimes::Scope scope(&phases, Phase::kPacking);
    check_words(target_sentences, options.target_words, "target");
    target.packing = layers::Packing(layers::lengths_with_end(target_sentences));
    target.words = layers::pack_words(
        target.packing, options.right_to_left() ? with_last_word_first(target_sentences) : target_sentences);
    dropout.lay_out_target(target.packing);
    losses.resize(target.words.size());
    target_lengths.resize(target_sentences.size());
    for (std::size_t b = 0; b < target_lengths.size(); ++b) target_lengths[b] = target_sentences.length(b);
  }
  const auto begin_readout = [&] {
    readout.begin(target.words.size(), frame, dropout.mask(Place::kReadout), options.feeds());
  };
  packed_for_.reset();
  if (options.feeds()) {
    readout.pack();
    begin_readout();
  }
  decoder.forward(batch, target);
  if (!options.feeds()) begin_readout();  // only now, so that both can use the same temporary memory
}

template <class Real>
ConstMatrixView<Real> Network<Real>::guide(const GuidedAlignment& guided, kernels::Scratch::Frame& frame) {
  alignment_cost = 0;
  if (guided.weight == 0 || !guided.links || guided.links->words.empty()) return {};
  assert(options.attends() && options.attention_window == AttentionWindow::kGlobal);
  const ConstMatrixView<Real> alpha = decoder.alpha();
  const auto links = frame.template zeros<Real>(target.words.size(), alpha.cols);
  std::vector<std::uint32_t> count;  // the number of links of each target word of a sentence
  for (std::size_t p = 0; p < target.packing.sentences(); ++p) {
    const std::uint32_t b = target.packing.order[p];
    const auto all = (*guided.links)[b];
    const std::size_t Ty = target_lengths[b];
    count.assign(Ty, 0);
    for (std::size_t k = 0; k + 1 < all.size(); k += 2) {
      assert(all[k] < batch.source_length(b) && all[k + 1] < Ty);
      ++count[all[k + 1]];
    }
    for (std::size_t k = 0; k + 1 < all.size(); k += 2) {
      const std::size_t t = place_at(all[k + 1], Ty, options.right_to_left());
      const std::size_t row = target.packing.first_row[t] + p;
      const double A = 1 / static_cast<double>(count[all[k + 1]]);
      links(row, all[k]) += static_cast<Real>(guided.weight * A);
      const auto weight = std::max(alpha(row, all[k]), std::numeric_limits<Real>::min());
      alignment_cost -= guided.weight * A * std::log(static_cast<double>(weight));
    }
  }
  return links;
}

template <class Real>
void Network<Real>::forward(const Sentences& source, const Sentences& target_sentences) {
  encode(source, batch);
  kernels::Scratch::Frame frame(scratch);
  run_decoder(target_sentences, frame);
  const PhaseTimes::Scope scope(&phases, Phase::kReadout);
  if (!options.feeds()) readout.forward(0, decoder.for_readout());
  readout.loss(target.words, losses);
}

template <class Real>
void Network<Real>::forward_and_backward(const Sentences& source, const Sentences& target_sentences,
                                         const GradientOptions& how) {
  const Dropout::Batch drops(dropout, how.dropout_seed);
  encode(source, batch);
  kernels::Scratch::Frame frame(scratch);
  run_decoder(target_sentences, frame);
  const auto count = [](std::size_t rows) { return static_cast<double>(rows); };
  batch_size = {.pairs = count(source.size()),
                .source_words = count(encoder.rows().words.size()),
                .target_words = count(target.words.size()),
                .source_embeddings = count(encoder.embeddings()),
                .target_embeddings = count(decoder.embeddings())};

  PhaseTimes::Scope scope(&phases, Phase::kReadout);
  if (!options.feeds()) readout.forward(0, decoder.for_readout());
  readout.loss_and_backward(target.words, losses, frame, how.label_smoothing);
  const auto inputs = frame.template matrix<Real>(target.words.size(), widths.readout_input());
  if (!options.feeds()) {
    readout.backward(0, inputs);
    readout.accumulate(decoder.for_readout());
  }
  finish(how.finished, Stage::kReadout);

  scope.change(Phase::kDecoder);
  const std::size_t attended = options.attends() ? batch.offsets.back() : 0;
  SourceGradients<Real> gradients;
  gradients.annotations = frame.template zeros<Real>(attended, widths.annotation);
  gradients.keys = frame.template zeros<Real>(attended, widths.score);
  gradients.guide = guide(how.guided_alignment, frame);
  decoder.backward(batch, target, inputs, gradients);
  finish(how.finished, Stage::kDecoder);

  scope.change(Phase::kEncoder);
  if (options.attends()) decoder.keys_backward(batch, gradients);
  auto to_encoder =
      initial_states.backward(encoder, batch, target.packing, gradients.states, gradients.contexts, frame);
  to_encoder.annotations = gradients.annotations;
  finish(how.finished, Stage::kSource);
  encoder.backward(batch, to_encoder, phases,
                   {.words = [&] { finish(how.finished, Stage::kSourceWords); },
                    .first_direction = [&] { finish(how.finished, Stage::kFirstDirection); }});
  finish(how.finished, Stage::kEncoder);
}

template <class Real>
void Network<Real>::start(const Encoded<Real>& encoded, SearchState<Real>& state) {
  const PhaseTimes::Scope scope(&phases, Phase::kDecoder);
  const auto first_states = view_of(encoded.initial_states, options.layers * widths.cell_state);
  kernels::copy_rows<Real>(first_states, state.states.shape(state.rows(), first_states.cols));
  const bool pack = !parameters_are_fixed || packed_for_ != kernels::precision();
  decoder.start(state, pack);
  if (!pack) return;
  readout.pack();
  packed_for_ = kernels::precision();
}

template <class Real>
void Network<Real>::fix_parameters() {
  if (!parameters_are_fixed) packed_for_.reset();
  parameters_are_fixed = true;
}

template <class Real>
void Network<Real>::predict(const Encoded<Real>& encoded, SearchState<Real>& state,
                            const Prediction<Real>& prediction) {
  kernels::Scratch::Frame frame(scratch);
  readout.begin(state.rows(), frame, {}, true);
  decoder.predict(encoded, state, prediction.alpha, frame);
  const PhaseTimes::Scope scope(&phases, Phase::kReadout);
  if (!options.feeds()) readout.forward(0, decoder.for_readout());
  const layers::ShortlistRows<Real> lists{prediction.shortlist, state.sentence};
  if (prediction.top) {
    readout.top_words(*prediction.top, lists);
  } else {
    readout.log_probabilities(prediction.log_probabilities, lists);
  }
}

template <class Real>
void Network<Real>::predict_all(std::span<const std::uint32_t> row, MatrixView<Real> log_probabilities,
                                const layers::ShortlistRows<Real>& lists) {
  const PhaseTimes::Scope scope(&phases, Phase::kReadout);
  readout.log_probabilities(row, log_probabilities, lists);
}

template <class Real>
layers::ShortlistOutput<Real> Network<Real>::shortlist(const Sentences& lists, std::size_t together) {
  const PhaseTimes::Scope scope(&phases, Phase::kReadout);
  return readout.shortlist(lists, together);
}

void check_words(const Sentences& sentences, std::size_t vocabulary, const char* side) {
  for (const WordId word : sentences.words) {
    if (word >= vocabulary) {
      throw Error(text_of("model: a ", side, " sentence holds word id ", word, ", but the vocabulary has only ",
                          vocabulary, " words"));
    }
  }
}

template class Network<float>;
template class Network<double>;

}  // namespace rnnsearch::model

#include "rnnsearch/model/model.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "model/impl.h"
#include "model/weights.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {
namespace {

// The table that is also the output matrix is the first one: with a sample its gradient is sparse, too.
ParameterLayout layout_for(const ModelOptions& options, bool sampled) {
  ParameterLayout layout = layout_of(options);
  if (sampled && options.ties_output()) layout.dense -= options.target_words * options.embedding;
  return layout;
}

std::vector<Model::TableGradient> tables_of(const ParameterLayout& layout, const ModelOptions& options) {
  std::vector<Model::TableGradient> tables;
  for (const Parameter& E : layout.parameters) {
    if (E.offset < layout.dense) continue;
    const bool source = E.name != "decoder/embedding", target = E.name != "encoder/embedding";
    tables.push_back({E.offset, source, target, target && options.ties_output(), {E.rows(), E.cols()}});
  }
  return tables;
}

// The table with a sparse gradient that embeds the words of a side, or negative.
int table_of(const std::vector<Model::TableGradient>& tables, bool target) {
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (target ? tables[i].target : tables[i].source) return static_cast<int>(i);
  }
  return -1;
}

layers::RowGradient* rows_of(std::vector<Model::TableGradient>& tables, bool target) {
  const int table = table_of(tables, target);
  return table < 0 ? nullptr : &tables[static_cast<std::size_t>(table)].rows;
}

}  // namespace

ParameterLayout parameter_layout_of(const ModelOptions& options) {
  check(options);
  return layout_of(options);
}

Model::Model(const ModelOptions& options, bool sampled) {
  check(options);
  impl_ = std::make_unique<Impl>(options, sampled);
}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

const ModelOptions& Model::options() const { return impl_->options; }
const ParameterLayout& Model::layout() const { return impl_->layout; }
std::span<Real> Model::parameters() {
  impl_->parameters_are_fixed = false;
  return impl_->parameters();
}
std::span<const Real> Model::parameters() const { return impl_->parameters(); }
std::span<Real> Model::gradient() { return impl_->gradients(); }
std::span<Model::TableGradient> Model::table_gradients() { return impl_->tables; }
std::span<const GradientPart> Model::gradient_parts() const { return impl_->parts; }
void Model::zero_gradient() {
  kernels::zero_rows(impl_->gradient_block.view());
  for (TableGradient& table : impl_->tables) table.rows.clear();
  impl_->gradient_is_zeroed = true;
}
PhaseTimes& Model::phases() { return impl_->phases; }

void Model::fix_parameters() {
  if (!impl_->parameters_are_fixed) impl_->packed_for.reset();
  impl_->parameters_are_fixed = true;
}

void Model::initialise(std::uint64_t seed) { model::initialise(layout(), options(), seed, parameters()); }

Loss Model::accumulate_gradient(const Sentences& source, const Sentences& target, const GradientOptions& how) {
  assert(source.size() == target.size());
  impl_->parameters_are_fixed = false;
  if (!impl_->gradient_is_zeroed) zero_gradient();
  if (source.empty()) {
    for (const GradientPart& part : gradient_parts()) {
      if (how.finished) how.finished(part);
    }
    impl_->batch_size = {};
    return {};
  }
  impl_->forward_and_backward(source, target, how);
  const auto& losses = impl_->losses;
  return {std::accumulate(losses.begin(), losses.end(), 0.0), losses.size(), impl_->alignment_cost};
}

BatchSize Model::last_batch() const { return impl_->batch_size; }

Loss Model::loss(const Sentences& source, const Sentences& target) {
  assert(source.size() == target.size());
  if (source.empty()) return {};
  impl_->forward(source, target);
  const auto& losses = impl_->losses;
  return {std::accumulate(losses.begin(), losses.end(), 0.0), losses.size()};
}

std::vector<double> Model::score(const Sentences& source, const Sentences& target) {
  assert(source.size() == target.size());
  std::vector<double> scores(source.size(), 0.0);
  if (source.empty()) return scores;
  impl_->forward(source, target);
  impl_->target.packing.for_each_row(
      [&](std::size_t row, std::size_t b, std::size_t) { scores[b] -= impl_->losses[row]; });
  return scores;
}

std::vector<std::vector<double>> Model::word_scores(const Sentences& source, const Sentences& target) {
  assert(source.size() == target.size());
  std::vector<std::vector<double>> scores(source.size());
  if (source.empty()) return scores;
  impl_->forward(source, target);
  for (std::size_t b = 0; b < target.size(); ++b) scores[b].resize(target.length(b) + 1);
  impl_->target.packing.for_each_row([&](std::size_t row, std::size_t b, std::size_t t) {
    scores[b][position_of_step(t, target.length(b), options().right_to_left())] = -impl_->losses[row];
  });
  return scores;
}

std::vector<Alignment> Model::align(const Sentences& source, const Sentences& target) {
  const std::vector<double> scores = score(source, target);
  std::vector<Alignment> alignments(scores.size());
  for (std::size_t b = 0; b < scores.size(); ++b) alignments[b].log_probability = scores[b];
  if (scores.empty() || impl_->decoder.alpha().cols == 0) return alignments;
  // Only the columns of a sentence's own words are copied.
  const ConstMatrix alpha = impl_->decoder.alpha();
  impl_->target.packing.for_each_row([&](std::size_t row, std::size_t b, std::size_t t) {
    const std::size_t Tx = impl_->batch.source_length(b), Ty = target.length(b);
    alignments[b].alpha.resize((Ty + 1) * Tx);
    std::copy_n(alpha.row(row), Tx,
                alignments[b].alpha.data() + position_of_step(t, Ty, options().right_to_left()) * Tx);
  });
  return alignments;
}

Encoded Model::encode(const Sentences& source) {
  Encoded encoded;
  impl_->encode(source, encoded);
  return encoded;
}

SearchState Model::start(const Encoded& encoded) {
  SearchState state;
  state.sentence.resize(encoded.sentences());
  std::iota(state.sentence.begin(), state.sentence.end(), 0u);
  state.previous.assign(state.rows(), kStart);
  state.written.assign(state.rows(), 0);
  const PhaseTimes::Scope scope(&phases(), Phase::kDecoder);
  const auto first_states = encoded.initial_states.view();
  kernels::copy_rows(first_states, state.states.shape(state.rows(), first_states.cols));
  const bool pack = !impl_->parameters_are_fixed || impl_->packed_for != kernels::precision();
  impl_->decoder.start(state, pack);
  if (pack) {
    impl_->readout.pack();
    impl_->packed_for = kernels::precision();
  }
  return state;
}

void Model::predict(const Encoded& encoded, SearchState& state, const Prediction& prediction) {
  if (state.rows() == 0) return;
  layers::Readout& readout = impl_->readout;
  kernels::Scratch::Frame frame(impl_->scratch);
  readout.begin(state.rows(), frame, {}, true);
  impl_->decoder.predict(encoded, state, prediction.alpha, frame);
  const PhaseTimes::Scope scope(&phases(), Phase::kReadout);
  if (!options().feeds()) readout.forward(0, impl_->decoder.for_readout());
  const layers::ShortlistRows lists{prediction.shortlist, state.sentence};
  if (prediction.top) {
    readout.top_words(*prediction.top, lists);
  } else {
    readout.log_probabilities(prediction.log_probabilities, lists);
  }
}

void Model::predict_all(std::span<const std::uint32_t> row, Matrix log_probabilities,
                        const layers::ShortlistRows& lists) {
  const PhaseTimes::Scope scope(&phases(), Phase::kReadout);
  if (!row.empty()) impl_->readout.log_probabilities(row, log_probabilities, lists);
}

layers::ShortlistOutput Model::shortlist(const Sentences& lists, std::size_t together) {
  const PhaseTimes::Scope scope(&phases(), Phase::kReadout);
  return impl_->readout.shortlist(lists, together);
}

void Model::advance(SearchState& state) {
  if (state.rows() > 0) impl_->decoder.advance(state);
  state.previous = state.word;
  for (auto& words : state.written) ++words;
}

void Encoded::replace(std::span<const std::uint32_t> kept, Encoded more) {
  assert(std::is_sorted(kept.begin(), kept.end()));
  const std::vector<std::size_t> before = std::exchange(offsets, {0});
  const auto add_lengths = [&](const std::vector<std::size_t>& from, std::size_t b) {
    offsets.push_back(offsets.back() + from[b + 1] - from[b]);
  };
  for (const std::uint32_t b : kept) add_lengths(before, b);
  for (std::size_t b = 0; b < more.sentences(); ++b) add_lengths(more.offsets, b);

  // One matrix after the other, so that only one is there twice. Each has a row for each word, or for each sentence.
  const auto join = [&](auto& own, auto& other, bool row_for_each_word) {
    const auto from = own.view(), added = other.view();
    std::remove_reference_t<decltype(own)> joined;
    const std::size_t rows = row_for_each_word ? offsets.back() : sentences();
    const auto to = joined.shape(from.rows + added.rows > 0 ? rows : 0, std::max(from.cols, added.cols));
    std::size_t row = 0;
    const auto copy = [&](const auto& some) {
      for (std::size_t i = 0; i < some.rows; ++i) std::copy_n(some.row(i), some.cols, to.row(row++));
    };
    for (std::size_t k = 0; k < kept.size() && from.rows > 0; ++k) {
      const std::size_t b = kept[k];
      copy(row_for_each_word ? from.row_range(before[b], before[b + 1] - before[b]) : from.row_range(b, 1));
    }
    copy(added);
    own = std::move(joined);
    other = {};
  };
  join(annotations, more.annotations, true);
  join(keys, more.keys, true);
  join(rounded_annotations, more.rounded_annotations, true);
  join(rounded_keys, more.rounded_keys, true);
  join(contexts, more.contexts, false);
  join(initial_states, more.initial_states, false);
}

void SearchState::select(std::span<const std::uint32_t> parent, std::span<const WordId> chosen) {
  assert(parent.size() == chosen.size());
  const auto gather = [&](auto values) {
    decltype(values) gathered;
    for (const std::uint32_t row : parent) gathered.push_back(values[row]);
    return gathered;
  };
  sentence = gather(std::move(sentence));
  previous = gather(std::move(previous));
  written = gather(std::move(written));
  word.assign(chosen.begin(), chosen.end());
  for (kernels::Buffer<Real>* const buffer : {&states, &fed, &context}) {
    const auto rows = buffer->view();
    if (rows.cols == 0) continue;
    kernels::gather_rows(rows, parent, spare.shape(parent.size(), rows.cols));
    std::swap(*buffer, spare);
  }
}

void SearchState::append(const SearchState& other, std::size_t first, std::size_t count, std::uint32_t shift) {
  const std::size_t before = rows();
  for (std::size_t k = first; k < first + count; ++k) {
    sentence.push_back(other.sentence[k] + shift);
    previous.push_back(other.previous[k]);
    written.push_back(other.written[k]);
  }
  // The context is that of a step, and is computed anew.
  for (const auto& [own, more] : {std::pair{&states, &other.states}, std::pair{&fed, &other.fed}}) {
    const std::size_t width = more->view().cols;
    if (width == 0) continue;
    const auto joined = spare.shape(before + count, width);
    if (before > 0) kernels::copy_rows(own->view(), joined.row_range(0, before));
    kernels::copy_rows(more->view().row_range(first, count), joined.row_range(before, count));
    std::swap(*own, spare);
  }
}

BatchSize& BatchSize::operator+=(const BatchSize& other) {
  output_share = other.output_share;
  pairs += other.pairs;
  source_words += other.source_words;
  target_words += other.target_words;
  source_embeddings += other.source_embeddings;
  target_embeddings += other.target_embeddings;
  return *this;
}

ProductFlop& ProductFlop::operator+=(const ProductFlop& other) {
  encoder += other.encoder;
  decoder += other.decoder;
  readout += other.readout;
  return *this;
}

ProductFlop ProductFlop::operator*(double times) const { return {encoder * times, decoder * times, readout * times}; }

ProductFlop update_flop(const ModelOptions& options, const BatchSize& batch) {
  return forward_flop(options, batch) * 3;
}

// Every matrix but the embedding tables is multiplied: by each source word, target word or sentence. Two operations for
// each element: a multiplication and an addition.
ProductFlop forward_flop(const ModelOptions& o, const BatchSize& batch) {
  ProductFlop flop;
  for (const Parameter& matrix : layout_of(o).parameters) {
    if (matrix.shape.size() == 1) continue;
    const std::string& name = matrix.name;
    const std::size_t slash = name.rfind('/') + 1;
    const std::string folder = name.substr(0, slash), letter = name.substr(slash);
    const bool of_input = letter.starts_with('W') && letter != "W_2";  // of a cell
    const auto operations = 2 * static_cast<double>(matrix.count());
    if (letter == "embedding") {
      if (o.ties_output() && folder != "encoder/") flop.readout += operations * batch.target_words * batch.output_share;
    } else if (folder == "readout/") {
      const bool is_output = letter == "W_o" || (o.readout == Readout::kLinear && matrix.cols() == o.target_words);
      flop.readout += operations * batch.target_words * (is_output ? batch.output_share : 1);
    } else if (folder == "context/" || folder.ends_with("initial/")) {
      flop.encoder += operations * batch.pairs;
    } else if (folder == "attention/") {
      // W_a of a joint score has the rows of U_a below its own.
      const std::size_t own = letter == "U_a" ? 0 : letter == "W_a" ? o.state : matrix.rows();
      const double of_target = operations / static_cast<double>(matrix.rows()) * static_cast<double>(own);
      flop.decoder += of_target * batch.target_words;
      flop.encoder += (operations - of_target) * batch.source_words;
    } else if (folder.starts_with("encoder/")) {
      const bool embedded = of_input && !folder.starts_with("encoder/layer");
      flop.encoder += operations * (embedded ? batch.source_embeddings : batch.source_words);
    } else {
      const bool fixed = letter.starts_with('C') && o.has_fixed_context();
      const bool embedded = of_input && folder == "decoder/";
      flop.decoder += operations * (fixed ? batch.pairs : embedded ? batch.target_embeddings : batch.target_words);
    }
  }
  return flop;
}

Model::Impl::Impl(const ModelOptions& chosen, bool sampled)
    : options(chosen),
      layout(layout_for(chosen, sampled)),
      widths(chosen),
      weights(weights_in(chosen, {parameter_block.zeros(1, layout.size).data, layout.size})),
      gradient(weights_in(chosen, {gradient_block.shape(1, layout.dense).data, layout.dense})),
      tables(tables_of(layout, options)),
      dropout(options),
      encoder(options, weights.encoder, gradient.encoder,
              {weights.encoder.embedding, gradient.encoder.embedding, rows_of(tables, false)}, dropout, scratch),
      initial_states(options, weights.initial, gradient.initial),
      readout(options.readout, weights.readout, gradient.readout, scratch,
              options.ties_output() ? rows_of(tables, true) : nullptr),
      decoder({options, weights, gradient,
               layers::EmbeddingTable{weights.target_embedding, gradient.target_embedding, rows_of(tables, true)},
               readout, dropout, scratch, phases}) {
  // The table of both sides is final after the source's words.
  const auto& final_parts = weights.parts;
  const auto part_of = [&](bool side) {
    const int table = table_of(tables, side);
    return table < 0 ? final_parts.output_table : GradientPart{0, 0, table};
  };
  source_words = part_of(false);
  if (!options.ties_sides()) target_words = part_of(true);
  for (const GradientPart& part : {final_parts.readout, final_parts.decoder, target_words, final_parts.between,
                                   source_words, final_parts.first_direction, final_parts.encoder}) {
    if (part.size > 0 || part.table >= 0) parts.push_back(part);
  }
}

void Model::Impl::encode(const Sentences& source, Encoded& encoded) {
  encoder.forward(source, encoded, phases);
  const PhaseTimes::Scope scope(&phases, Phase::kEncoder);
  if (options.attends()) decoder.make_keys(encoded);
  initial_states.forward(encoder, encoded);
}

void Model::Impl::run_decoder(const Sentences& target_sentences, kernels::Scratch::Frame& frame) {
  {
    const PhaseTimes::Scope scope(&phases, Phase::kPacking);
    check_words(target_sentences, options.target_words, "target");
    target.packing = layers::Packing(layers::lengths_with_end(target_sentences));
    target.words = layers::pack_words(
        target.packing, options.right_to_left() ? with_last_word_first(target_sentences) : target_sentences);
    dropout.lay_out_target(target.packing);
    losses.resize(target.words.size());
  }
  const auto begin_readout = [&] {
    readout.begin(target.words.size(), frame, dropout.mask(Activations::kReadout), options.feeds());
  };
  packed_for.reset();
  if (options.feeds()) {
    readout.pack();
    begin_readout();
  }
  decoder.forward(batch, target);
  if (!options.feeds()) begin_readout();  // only now, so that both can use the same temporary memory
}

std::vector<Real> Model::Impl::row_weights(std::span<const float> pair_weights) const {
  if (pair_weights.empty()) return {};
  std::vector<Real> rows(target.packing.words());
  target.packing.for_each_row([&](std::size_t row, std::size_t b, std::size_t) { rows[row] = Real{pair_weights[b]}; });
  return rows;
}

ConstMatrix Model::Impl::guide(const GradientOptions& how, const Sentences& target_sentences,
                               kernels::Scratch::Frame& frame) {
  const GuidedAlignment& guided = how.guided_alignment;
  alignment_cost = 0;
  if (guided.weight == 0 || !guided.links || guided.links->words.empty()) return {};
  assert(options.attends() && options.attention_window == AttentionWindow::kGlobal);
  const ConstMatrix alpha = decoder.alpha();
  const auto links = frame.zeros(target.words.size(), alpha.cols);
  std::vector<std::uint32_t> count;  // the number of links of each target word of a sentence
  for (std::size_t p = 0; p < target.packing.sentences(); ++p) {
    const std::uint32_t b = target.packing.order[p];
    const auto all = (*guided.links)[b];
    const std::size_t Ty = target_sentences.length(b);
    count.assign(Ty, 0);
    for (std::size_t k = 0; k + 1 < all.size(); k += 2) {
      assert(all[k] < batch.source_length(b) && all[k + 1] < Ty);
      ++count[all[k + 1]];
    }
    for (std::size_t k = 0; k + 1 < all.size(); k += 2) {
      const std::size_t t = position_of_step(all[k + 1], Ty, options.right_to_left());
      const std::size_t row = target.packing.first_row[t] + p;
      const double A = 1 / static_cast<double>(count[all[k + 1]]);
      links(row, all[k]) += static_cast<Real>(guided.weight * A * (how.weights.empty() ? 1 : double{how.weights[b]}));
      const auto weight = std::max(alpha(row, all[k]), std::numeric_limits<Real>::min());
      alignment_cost -= guided.weight * A * portable::log(static_cast<double>(weight));
    }
  }
  return links;
}

void Model::Impl::forward(const Sentences& source, const Sentences& target_sentences) {
  encode(source, batch);
  kernels::Scratch::Frame frame(scratch);
  run_decoder(target_sentences, frame);
  const PhaseTimes::Scope scope(&phases, Phase::kReadout);
  if (!options.feeds()) readout.forward(0, decoder.for_readout());
  readout.loss(target.words, losses);
}

void Model::Impl::forward_and_backward(const Sentences& source, const Sentences& target_sentences,
                                       const GradientOptions& how) {
  const auto finish = [&](const GradientPart& part) {
    if (how.finished && (part.size > 0 || part.table >= 0)) how.finished(part);
  };
  const Dropout::Batch drops(dropout, how.dropout_seed);
  encode(source, batch);
  kernels::Scratch::Frame frame(scratch);
  run_decoder(target_sentences, frame);
  const auto count = [](std::size_t rows) { return static_cast<double>(rows); };
  batch_size = {.pairs = count(source.size()),
                .source_words = count(encoder.rows().words.size()),
                .target_words = count(target.words.size()),
                .source_embeddings = count(encoder.embeddings()),
                .target_embeddings = count(decoder.embeddings()),
                .output_share = how.sample.empty() ? 1 : count(how.sample.size()) / count(options.target_words)};

  PhaseTimes::Scope scope(&phases, Phase::kReadout);
  if (!options.feeds()) readout.forward(0, decoder.for_readout());
  const std::vector<Real> of_rows = row_weights(how.weights);
  readout.loss_and_backward({target.words, losses, how.label_smoothing, of_rows, how.sample}, frame);
  const auto inputs = frame.matrix(target.words.size(), widths.readout_input());
  if (!options.feeds()) {
    readout.backward(0, inputs);
    readout.accumulate(decoder.for_readout());
  }
  if (!options.feeds()) finish(weights.parts.readout);

  scope.change(Phase::kDecoder);
  const std::size_t attended = options.attends() ? batch.offsets.back() : 0;
  SourceGradients gradients;
  gradients.annotations = frame.zeros(attended, widths.annotation);
  gradients.keys = frame.zeros(attended, widths.score);
  gradients.guide = guide(how, target_sentences, frame);
  decoder.backward(batch, target, inputs, gradients);
  if (options.feeds()) finish(weights.parts.readout);
  finish(weights.parts.decoder);
  finish(target_words);

  scope.change(Phase::kEncoder);
  if (options.attends()) decoder.keys_backward(batch, gradients);
  auto to_encoder =
      initial_states.backward(encoder, batch, target.packing, gradients.states, gradients.contexts, frame);
  to_encoder.annotations = gradients.annotations;
  finish(weights.parts.between);
  encoder.backward(
      batch, to_encoder, phases,
      {.words = [&] { finish(source_words); }, .first_direction = [&] { finish(weights.parts.first_direction); }});
  finish(weights.parts.encoder);
}

void check_words(const Sentences& sentences, std::size_t vocabulary, const char* side) {
  for (const WordId word : sentences.words) {
    if (word >= vocabulary) {
      throw Error("model: a {} sentence holds word id {}, but the vocabulary has only {} words", side, word,
                  vocabulary);
    }
  }
}

}  // namespace rnnsearch::model

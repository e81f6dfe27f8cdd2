#include "model/impl.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/portable.h"

namespace rnnsearch::model {
namespace {

std::vector<Model::TableGradient> tables_of(const ParameterLayout& layout) {
  std::vector<Model::TableGradient> tables;
  for (const Parameter& E : layout.parameters) {
    if (E.offset < layout.dense) continue;
    tables.push_back({E.offset, E.name != "decoder/embedding", E.name != "encoder/embedding", {E.rows(), E.cols()}});
  }
  return tables;
}

// The gradient of the table that embeds the words of a side: rows, or nullptr if it is dense.
layers::RowGradient* rows_of(std::vector<Model::TableGradient>& tables, bool target) {
  for (auto& table : tables) {
    if (target ? table.target : table.source) return &table.rows;
  }
  return nullptr;
}

}  // namespace

Model::Impl::Impl(const ModelOptions& chosen)
    : options(chosen),
      layout(layout_of(chosen)),
      widths(chosen),
      weights(weights_in(chosen, {parameter_block.zeros(1, layout.size).data, layout.size})),
      gradient(weights_in(chosen, {gradient_block.shape(1, layout.dense).data, layout.dense})),
      tables(tables_of(layout)),
      dropout(options),
      encoder(options, weights.encoder, gradient.encoder,
              {weights.encoder.embedding, gradient.encoder.embedding, rows_of(tables, false)}, dropout, scratch),
      initial_states(options, weights.initial, gradient.initial),
      readout(options.readout, weights.readout, gradient.readout, scratch),
      decoder({options, weights, gradient,
               layers::EmbeddingTable{weights.target_embedding, gradient.target_embedding, rows_of(tables, true)},
               readout, dropout, scratch, phases}) {
  // The table of both sides is final after the source's words.
  const auto& final_parts = weights.parts;
  source_words = options.ties_sides() && options.ties_output() ? final_parts.output_table : GradientPart{0, 0, 0};
  if (!options.ties_sides()) target_words = options.ties_output() ? final_parts.output_table : GradientPart{0, 0, 1};
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

#include "rnnsearch/model/model.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "model/impl.h"
#include "model/weights.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::model {

ParameterLayout parameter_layout_of(const ModelOptions& options) {
  check(options);
  return layout_of(options);
}

Model::Model(const ModelOptions& options) {
  check(options);
  impl_ = std::make_unique<Impl>(options);
}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

const ModelOptions& Model::options() const {
  return impl_->options;
}
const ParameterLayout& Model::layout() const {
  return impl_->layout;
}
std::span<Real> Model::parameters() {
  impl_->parameters_are_fixed = false;
  return impl_->parameters();
}
std::span<const Real> Model::parameters() const {
  return impl_->parameters();
}
std::span<Real> Model::gradient() {
  return impl_->gradients();
}
std::span<Model::TableGradient> Model::table_gradients() {
  return impl_->tables;
}
std::span<const GradientPart> Model::gradient_parts() const {
  return impl_->parts;
}
void Model::zero_gradient() {
  kernels::zero_rows(impl_->gradient_block.view());
  for (TableGradient& table : impl_->tables) table.rows.clear();
  impl_->gradient_is_zeroed = true;
}
PhaseTimes& Model::phases() {
  return impl_->phases;
}

void Model::fix_parameters() {
  if (!impl_->parameters_are_fixed) impl_->packed_for.reset();
  impl_->parameters_are_fixed = true;
}

void Model::initialise(std::uint64_t seed) {
  model::initialise(layout(), options(), seed, parameters());
}

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

BatchSize Model::last_batch() const {
  return impl_->batch_size;
}

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

}  // namespace rnnsearch::model

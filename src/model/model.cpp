#include "rnnsearch/model/model.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "model/initialise.h"
#include "model/network.h"
#include "model/weights.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/model/option_rules.h"

namespace rnnsearch::model {

ParameterLayout parameter_layout_of(const ModelOptions& options) {
  check(options);
  return layout_of(options);
}

template <class Real>
Model<Real>::Model(const ModelOptions& options) {
  check(options);
  network_ = std::make_unique<Network<Real>>(options);
}
template <class Real>
Model<Real>::Model(std::unique_ptr<Network<Real>> network) : network_(std::move(network)) {}
template <class Real>
Model<Real>::~Model() = default;
template <class Real>
Model<Real>::Model(Model&&) noexcept = default;
template <class Real>
Model<Real>& Model<Real>::operator=(Model&&) noexcept = default;

template <class Real>
const ModelOptions& Model<Real>::options() const {
  return network_->options;
}
template <class Real>
const ParameterLayout& Model<Real>::layout() const {
  return network_->layout;
}
template <class Real>
std::span<Real> Model<Real>::parameters() {
  network_->parameters_are_fixed = false;
  return network_->parameters();
}
template <class Real>
std::span<const Real> Model<Real>::parameters() const {
  return network_->parameters();
}
template <class Real>
std::span<Real> Model<Real>::gradient() {
  return network_->gradients();
}
template <class Real>
std::span<typename Model<Real>::TableGradient> Model<Real>::table_gradients() {
  return network_->tables;
}
template <class Real>
std::span<const typename Model<Real>::GradientPart> Model<Real>::gradient_parts() const {
  return network_->parts;
}
template <class Real>
void Model<Real>::zero_gradient() {
  kernels::zero_rows<Real>(network_->gradient_block.view());
  for (TableGradient& table : network_->tables) table.rows.clear();
}
template <class Real>
PhaseTimes& Model<Real>::phases() {
  return network_->phases;
}

template <class Real>
void Model<Real>::fix_parameters() {
  network_->fix_parameters();
}

template <class Real>
void Model<Real>::initialise(std::uint64_t seed) {
  model::initialise<Real>(layout(), options(), seed, parameters());
}

template <class Real>
Loss Model<Real>::accumulate_gradient(const Sentences& source, const Sentences& target, const GradientOptions& how) {
  assert(source.size() == target.size());
  network_->parts_finished = 0;
  network_->parameters_are_fixed = false;
  if (source.empty()) {
    for (std::size_t part = 0; part < gradient_parts().size() && how.finished; ++part) how.finished(part);
    network_->batch_size = {};
    return {};
  }
  network_->forward_and_backward(source, target, how);
  assert(network_->parts_finished == gradient_parts().size());
  const auto& losses = network_->losses;
  return {std::accumulate(losses.begin(), losses.end(), 0.0), losses.size(), network_->alignment_cost};
}

template <class Real>
BatchSize Model<Real>::last_batch() const {
  return network_->batch_size;
}

template <class Real>
Loss Model<Real>::loss(const Sentences& source, const Sentences& target) {
  assert(source.size() == target.size());
  if (source.empty()) return {};
  network_->forward(source, target);
  const auto& losses = network_->losses;
  return {std::accumulate(losses.begin(), losses.end(), 0.0), losses.size()};
}

template <class Real>
std::vector<double> Model<Real>::score(const Sentences& source, const Sentences& target) {
  assert(source.size() == target.size());
  std::vector<double> scores(source.size(), 0.0);
  if (source.empty()) return scores;
  network_->forward(source, target);
  const auto& packing = network_->target.packing;
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    for (std::size_t p = 0; p < packing.active[t]; ++p) {
      scores[packing.order[p]] -= network_->losses[packing.first_row[t] + p];
    }
  }
  return scores;
}

template <class Real>
std::vector<std::vector<double>> Model<Real>::word_scores(const Sentences& source, const Sentences& target) {
  assert(source.size() == target.size());
  std::vector<std::vector<double>> scores(source.size());
  if (source.empty()) return scores;
  network_->forward(source, target);
  const auto& packing = network_->target.packing;
  for (std::size_t b = 0; b < target.size(); ++b) scores[b].resize(target.length(b) + 1);
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    for (std::size_t p = 0; p < packing.active[t]; ++p) {
      const std::size_t b = packing.order[p], i = place_at(t, target.length(b), options().right_to_left());
      scores[b][i] = -network_->losses[packing.first_row[t] + p];
    }
  }
  return scores;
}

template <class Real>
std::vector<Alignment<Real>> Model<Real>::align(const Sentences& source, const Sentences& target) {
  const std::vector<double> scores = score(source, target);
  std::vector<Alignment<Real>> alignments(scores.size());
  for (std::size_t b = 0; b < scores.size(); ++b) alignments[b].log_probability = scores[b];
  if (scores.empty() || network_->decoder.alpha().cols == 0) return alignments;
  // Only the columns of a sentence's own words are copied.
  const ConstMatrixView<Real> alpha = network_->decoder.alpha();
  const auto& packing = network_->target.packing;
  for (std::size_t b = 0; b < scores.size(); ++b) {
    alignments[b].alpha.resize((target.length(b) + 1) * network_->batch.source_length(b));
  }
  for (std::size_t t = 0; t < packing.steps(); ++t) {
    for (std::size_t p = 0; p < packing.active[t]; ++p) {
      const std::uint32_t b = packing.order[p];
      const std::size_t Tx = network_->batch.source_length(b);
      const std::size_t i = place_at(t, target.length(b), options().right_to_left());
      std::copy_n(alpha.row(packing.first_row[t] + p), Tx, alignments[b].alpha.data() + i * Tx);
    }
  }
  return alignments;
}

template <class Real>
Encoded<Real> Model<Real>::encode(const Sentences& source) {
  Encoded<Real> encoded;
  network_->encode(source, encoded);
  return encoded;
}

template <class Real>
SearchState<Real> Model<Real>::start(const Encoded<Real>& encoded) {
  SearchState<Real> state;
  state.sentence.resize(encoded.sentences());
  std::iota(state.sentence.begin(), state.sentence.end(), 0u);
  state.previous.assign(state.rows(), kStart);
  state.written.assign(state.rows(), 0);
  network_->start(encoded, state);
  return state;
}

template <class Real>
void Model<Real>::predict(const Encoded<Real>& encoded, SearchState<Real>& state, const Prediction<Real>& prediction) {
  if (state.rows() > 0) network_->predict(encoded, state, prediction);
}

template <class Real>
void Model<Real>::predict_all(std::span<const std::uint32_t> row, MatrixView<Real> log_probabilities,
                              const layers::ShortlistRows<Real>& lists) {
  if (!row.empty()) network_->predict_all(row, log_probabilities, lists);
}

template <class Real>
layers::ShortlistOutput<Real> Model<Real>::shortlist(const Sentences& lists, std::size_t together) {
  return network_->shortlist(lists, together);
}

template <class Real>
void Model<Real>::advance(SearchState<Real>& state) {
  if (state.rows() > 0) network_->decoder.advance(state);
  state.previous = state.word;
  for (auto& words : state.written) ++words;
}

template class Model<float>;
template class Model<double>;

}  // namespace rnnsearch::model

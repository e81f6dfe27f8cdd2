#include "rnnsearch/train/update.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "rnnsearch/base/stopwatch.h"

namespace rnnsearch::train {
namespace {

double scale_of(GradientOf gradient_of, std::uint64_t batch_pairs, double words) {
  switch (gradient_of) {
    case GradientOf::kSum:
      return 1;
    case GradientOf::kSentence:
      return 1 / static_cast<double>(batch_pairs);
    case GradientOf::kWord:
      return 1 / words;
  }
  return 1;
}

}  // namespace

TableGradient UpdateStep::Rows::summed(const comm::Communicator& communicator,
                                       const model::Model<float>::TableGradient& table) {
  // The union of what the ranks touched, as one bit a word; then only those rows travel.
  const auto& own = table.rows;
  constexpr std::size_t kBits = 64;
  bits.assign((own.table_rows() + kBits - 1) / kBits, 0);
  for (const WordId word : own.words()) bits[word / kBits] |= std::uint64_t{1} << word % kBits;
  if (communicator.size() > 1) communicator.wait(communicator.begin_unite(bits));
  words.clear();
  place.resize(own.table_rows());
  for (std::size_t b = 0; b < bits.size(); ++b) {
    for (std::uint64_t left = bits[b]; left != 0; left &= left - 1) {
      const auto word = static_cast<WordId>(b * kBits + static_cast<std::size_t>(std::countr_zero(left)));
      place[word] = static_cast<std::uint32_t>(words.size());
      words.push_back(word);
    }
  }
  rows.assign(words.size() * own.cols(), 0.0F);
  for (std::size_t i = 0; i < own.words().size(); ++i) {
    std::copy_n(own.rows().row(i), own.cols(), rows.data() + place[own.words()[i]] * own.cols());
  }
  if (communicator.size() > 1) communicator.sum(rows);
  return {table.offset, own.table_rows(), own.cols(), words, rows};
}

UpdateStep::UpdateStep(const comm::Communicator& communicator, model::Model<float>& model, const TrainOptions& options)
    : communicator_(communicator),
      model_(model),
      options_(options),
      optimizer_(make_optimizer(options, model.parameters().size())) {}

UpdateResult UpdateStep::run(const UpdateInput& input) {
  UpdateResult result;
  Stopwatch watch;
  PhaseTimes& phases = model_.phases();
  phases.clear();
  const auto gradient = model_.gradient();
  {
    const PhaseTimes::Scope scope(&phases, Phase::kOptimizer);
    model_.zero_gradient();
  }
  const double zeroing_seconds = watch.lap();
  const model::Loss loss = model_.accumulate_gradient(input.source, input.target);
  result.compute_seconds = watch.lap();

  if (input.vote) input.vote();
  std::vector<double> sums{loss.negative_log_likelihood, static_cast<double>(loss.words)};  // one reduction for all
  sums.insert(sums.end(), input.votes.begin(), input.votes.end());
  {
    const PhaseTimes::Scope scope(&phases, Phase::kCommunication);
    communicator_.sum(gradient);
    const auto tables = model_.table_gradients();
    rows_.resize(tables.size());
    tables_.clear();
    for (std::size_t i = 0; i < tables.size(); ++i) tables_.push_back(rows_[i].summed(communicator_, tables[i]));
    communicator_.sum(std::span<double>(sums));
  }
  result.negative_log_likelihood = sums[0];
  result.words = sums[1];
  std::copy(sums.begin() + 2, sums.end(), input.votes.begin());
  result.communication_seconds = watch.lap();

  {
    const PhaseTimes::Scope scope(&phases, Phase::kOptimizer);
    double scale = scale_of(options_.gradient_of, input.batch_pairs, result.words);
    double squares = squared_norm_of(gradient);
    for (const TableGradient& table : tables_) squares += squared_norm_of(table.rows);
    result.gradient_norm = scale * std::sqrt(squares);
    result.applied = std::isfinite(result.gradient_norm) && std::isfinite(result.negative_log_likelihood);
    if (result.applied) {
      if (options_.clip_norm > 0 && result.gradient_norm > options_.clip_norm) {
        scale *= options_.clip_norm / result.gradient_norm;
      }
      optimizer_->update(model_.parameters(), gradient, input.learning_rate, scale, tables_);
    }
  }
  result.optimizer_seconds = zeroing_seconds + watch.lap();
  result.phases = phases;
  return result;
}

}  // namespace rnnsearch::train

#include "rnnsearch/train/update.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "rnnsearch/base/stopwatch.h"
#include "train/shard_sums.h"

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

struct UpdateStep::Shards {
  ShardPlan plan;
  ShardSums dense{};
  std::vector<ShardSums> tables{};  // of the model's table_gradients
};

UpdateStep::UpdateStep(const comm::Communicator& communicator, model::Model& model, const TrainOptions& options)
    : communicator_(communicator),
      model_(model),
      options_(options),
      optimizer_(make_optimizer(options, model.parameters().size())) {
  for (const auto& table : model.table_gradients()) {
    rows_.emplace_back(table.rows.table_rows(), table.rows.cols());
  }
  if (options.reproducible_shards == 0) return;
  check_ranks(options, communicator.size());
  shards_ = std::make_unique<Shards>(
      Shards{ShardPlan(options.reproducible_shards, communicator.rank(), communicator.size())});
  shards_->tables.resize(rows_.size());
}

UpdateStep::~UpdateStep() = default;

void UpdateStep::begin_all_reduce(const model::GradientPart& part) {
  const auto& [first, size, table] = part;
  const PhaseTimes::Scope scope(&model_.phases(), Phase::kCommunication);
  const auto index = static_cast<std::size_t>(table);
  if (table >= 0) rows_[index].set(communicator_, model_.table_gradients()[index]);
  if (shards_) {
    const ShardPlan& plan = shards_->plan;
    if (table >= 0 && plan.count() == 1) shards_->tables[index].begin(rows_[index].rows().size());
    communicator_.begin_tree_reduce(
        plan.shards(), table < 0 ? shards_->dense.finish(plan, first, model_.gradient().subspan(first, size))
                                 : shards_->tables[index].finish(plan, 0, rows_[index].rows()));
    return;
  }
  communicator_.begin_all_reduce(table < 0 ? model_.gradient().subspan(first, size) : rows_[index].rows());
}

void UpdateStep::put_aside(std::size_t shard) {
  const PhaseTimes::Scope scope(&model_.phases(), Phase::kOptimizer);
  shards_->dense.take(shards_->plan, shard, model_.gradient());
  // A row that a shard does not use counts as zeros, because which rows the other shards of a rank use depends on the
  // number of ranks, and -0 + 0 is 0.
  const auto tables = model_.table_gradients();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    rows_[i].set(communicator_, tables[i]);
    if (shard == 0) shards_->tables[i].begin(rows_[i].rows().size());
    shards_->tables[i].take(shards_->plan, shard, rows_[i].rows());
    tables[i].rows.clear();
  }
}

UpdateStep::Accumulated UpdateStep::accumulate(const UpdateInput& input,
                                               const std::function<void(const model::GradientPart& part)>& finished) {
  const corpus::BatchSlice& share = input.share;
  const std::size_t pieces =  // each has a pair, unless the share is empty
      shards_ ? shards_->plan.count()
              : std::min<std::size_t>(options_.accumulate, std::max<std::size_t>(1, share.source.size()));
  if (shards_) {
    assert(share.first_pair == shards_->plan.own().first && share.pair_stride == shards_->plan.shards());
    shards_->dense.begin(model_.gradient().size());
  }
  model::GradientOptions how;
  how.label_smoothing = options_.label_smoothing.at(input.update);
  how.guided_alignment = {options_.guided_alignment.at(input.update), &share.links};
  how.weights = share.weights;
  how.sample = share.sample_words();
  how.dropout_seed = {options_.seed, input.update, share.first_pair, share.pair_stride};
  if (pieces == 1) {
    how.finished = finished;
    const model::Loss loss = model_.accumulate_gradient(share.source, share.target, how);
    return {{loss}, model_.last_batch()};
  }
  const std::uint64_t apart = shards_ ? 1 : share.pair_stride;  // pairs of two successive pieces
  if (!shards_) how.dropout_seed.pair_stride *= pieces;
  Accumulated all{std::vector<model::Loss>(shards_ ? pieces : 1)};
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    // The share is sorted by length, so taking every pieces-th pair gives pieces of about equal size.
    Sentences source, target, links;
    std::vector<float> weights;
    for (std::size_t i = piece; i < share.source.size(); i += pieces) {
      source.add(share.source[i]);
      target.add(share.target[i]);
      if (!share.links.empty()) links.add(share.links[i]);
      if (!share.weights.empty()) weights.push_back(share.weights[i]);
    }
    how.guided_alignment.links = &links;
    how.weights = weights;
    if (piece + 1 == pieces) how.finished = finished;
    how.dropout_seed.first_pair = share.first_pair + piece * apart;
    const model::Loss part = model_.accumulate_gradient(source, target, how);
    all.batch += model_.last_batch();
    model::Loss& loss = all.losses[shards_ ? piece : 0];
    loss.negative_log_likelihood += part.negative_log_likelihood;
    loss.words += part.words;
    if (shards_ && piece + 1 < pieces) put_aside(piece);
  }
  return all;
}

UpdateResult UpdateStep::run(const UpdateInput& input) {
  try {
    return update(input);
  } catch (...) {
    communicator_.abandon();  // reductions in progress use buffers that are about to be destroyed
    throw;
  }
}

void UpdateStep::finish_all_reduces(const UpdateInput& input, const std::vector<model::Loss>& losses,
                                    UpdateResult& result) {
  // One message for the votes, the loss and the words. They are added in the order of ranks, and the loss and the words
  // in that of shards.
  std::vector<double> own(input.votes.begin(), input.votes.end());
  for (const model::Loss& loss : losses) {
    own.insert(own.end(), {loss.negative_log_likelihood, static_cast<double>(loss.words)});
  }
  const PhaseTimes::Scope scope(&model_.phases(), Phase::kCommunication);
  if (!options_.overlap) {
    for (const model::GradientPart& part : model_.gradient_parts()) begin_all_reduce(part);
  }
  // wait_for_all comes first, because it sleeps, while MPI's blocking reduction would keep this core busy.
  communicator_.wait_for_all();
  std::fill(input.votes.begin(), input.votes.end(), 0.0);
  const std::vector<double> all = communicator_.all_gather(own);
  for (auto value = all.begin(); value != all.end();) {
    for (double& vote : input.votes) vote += *value++;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      result.negative_log_likelihood += *value++;
      result.words += *value++;
    }
  }
}

void UpdateStep::apply_gradient(const UpdateInput& input, UpdateResult& result) {
  const PhaseTimes::Scope scope(&model_.phases(), Phase::kOptimizer);
  std::vector<TableGradient> tables;
  for (const auto& table : model_.table_gradients()) {
    SummedRows& sum = rows_[tables.size()];
    tables.push_back({table.offset, table.rows.table_rows(), table.rows.cols(), sum.words(), sum.rows()});
  }
  double scale = scale_of(options_.gradient_of, input.share.batch_pairs, result.words);
  double squares = squared_norm_of(model_.gradient());
  for (const TableGradient& table : tables) squares += squared_norm_of(table.rows);
  result.gradient_norm = scale * std::sqrt(squares);
  result.applied = std::isfinite(result.gradient_norm) && std::isfinite(result.negative_log_likelihood);
  if (!result.applied) return;
  if (options_.clip_norm > 0 && result.gradient_norm > options_.clip_norm)
    scale *= options_.clip_norm / result.gradient_norm;
  optimizer_->update(model_.parameters(), model_.gradient(), input.learning_rate, scale, tables);
}

UpdateResult UpdateStep::update(const UpdateInput& input) {
  UpdateResult result;
  const Stopwatch whole;
  Stopwatch watch;
  PhaseTimes& phases = model_.phases();
  phases.clear();
  const comm::Traffic before = communicator_.traffic();
  const auto tables = model_.table_gradients();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    rows_[i].begin_union(communicator_, tables[i], input.share.source, input.share.target, input.share.sample_words(),
                         model_.options());
  }
  {
    const PhaseTimes::Scope scope(&phases, Phase::kOptimizer);
    model_.zero_gradient();
  }
  const double zeroing_seconds = watch.lap();
  double begin_seconds = 0;  // time during which the backward pass waits for reductions to be started
  const auto finished = [&](const model::GradientPart& part) {
    result.part_seconds.push_back(whole.seconds());
    if (!options_.overlap) return;
    const Stopwatch begin;
    begin_all_reduce(part);
    begin_seconds += begin.seconds();
  };
  const auto [losses, own_batch] = accumulate(input, finished);
  result.own_batch = own_batch;
  result.compute_seconds = watch.lap() - begin_seconds;

  if (input.vote) input.vote();
  finish_all_reduces(input, losses, result);
  const comm::Traffic after = communicator_.traffic();
  result.traffic = {after.bytes_sent - before.bytes_sent, after.busy_seconds - before.busy_seconds};
  result.communication_seconds = begin_seconds + watch.lap();

  apply_gradient(input, result);
  result.optimizer_seconds = zeroing_seconds + watch.lap();
  result.phases = phases;
  return result;
}

}  // namespace rnnsearch::train

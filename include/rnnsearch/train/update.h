// One update of the weights, which runs on all ranks: gradient, all-reduce, clipping, optimiser.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/model/model.h"
#include "rnnsearch/train/optimizer.h"
#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

class SummedRows;

struct UpdateInput {
  const corpus::BatchSlice& share;  // of the global batch; it may be empty: the rank takes part nevertheless
  double learning_rate = 0;
  /// Additional numbers to sum over all ranks; the sums replace them.
  std::span<double> votes{};
  /// If set, it is called after the gradient was computed and writes `votes` as late as possible.
  std::function<void()> vote{};
  std::uint64_t update = 0;  // its number, for dropout and for settings that change over the updates
};

struct UpdateResult {
  double negative_log_likelihood = 0;  // nats, over all ranks; without label smoothing, with dropout
  double words = 0;                    // target words including </s>, over all ranks
  double gradient_norm = 0;            // norm after the division by `gradient_of` and before clipping
  bool applied = true;                 // false: gradient or loss were not finite, and the weights are unchanged
  model::BatchSize own_batch;          // this rank's share of the batch
  // Seconds of this rank. communication: reductions as far as they are not overlapped with computation, including
  // waiting for slower ranks.
  double compute_seconds = 0, communication_seconds = 0, optimizer_seconds = 0;
  PhaseTimes phases;      // the seconds of this rank in more detail
  comm::Traffic traffic;  // traffic of this rank; busy_seconds includes what is overlapped with computation
  /// Seconds from the start of the update until this rank had computed each of the model's gradient_parts.
  std::vector<double> part_seconds;
};

class UpdateStep {
 public:
  /// All arguments must outlive this object. Throws Error as check_ranks does.
  UpdateStep(const comm::Communicator& communicator, model::Model& model, const TrainOptions& options);
  ~UpdateStep();
  UpdateStep(const UpdateStep&) = delete;
  UpdateStep& operator=(const UpdateStep&) = delete;

  /// COLLECTIVE, with the same batch_pairs, learning_rate and number of votes on every rank. Throws Error; the other
  /// ranks may then wait, so the caller must end all ranks.
  UpdateResult run(const UpdateInput& input);

  Optimizer& optimizer() { return *optimizer_; }

 private:
  struct Shards;

  UpdateResult update(const UpdateInput& input);
  struct Accumulated {
    std::vector<model::Loss> losses;  // of all pieces together, or of each shard
    model::BatchSize batch{};         // all of them
  };
  /// Computes the gradient of this rank's share in options.accumulate pieces, or shard by shard. `finished` is called
  /// for the gradient parts of the last piece or shard.
  Accumulated accumulate(const UpdateInput& input,
                         const std::function<void(const model::GradientPart& part)>& finished);
  /// Puts the gradient of a shard, but the last one, aside; the model's gradient is 0 afterwards.
  void put_aside(std::size_t shard);
  void begin_all_reduce(const model::GradientPart& part);
  /// Waits for the gradient, and adds up votes, losses and words.
  void finish_all_reduces(const UpdateInput& input, const std::vector<model::Loss>& losses, UpdateResult& result);
  /// Scales, clips and applies the gradient, if it is finite.
  void apply_gradient(const UpdateInput& input, UpdateResult& result);

  const comm::Communicator& communicator_;
  model::Model& model_;
  const TrainOptions& options_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<SummedRows> rows_;    // one for each of the model's table_gradients
  std::unique_ptr<Shards> shards_;  // with reproducible_shards
};

}  // namespace rnnsearch::train

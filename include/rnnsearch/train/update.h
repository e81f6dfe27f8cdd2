// One update of the weights, on all ranks alike: gradient, sum over the ranks, clip, optimiser.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "rnnsearch/base/phases.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/model/model.h"
#include "rnnsearch/train/optimizer.h"
#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

/// One rank's share of a global batch. May be empty: the rank still takes part.
struct UpdateInput {
  const Sentences& source;
  const Sentences& target;
  std::uint64_t batch_pairs = 0;  // of the global batch
  double learning_rate = 0;
  /// Numbers of this rank that are to be summed over all ranks besides; the sums replace them.
  std::span<double> votes{};
  /// Writes them, if it is set: after the gradient, as late as they can be known.
  std::function<void()> vote{};
  // For dropout: the number of the update, and where the share's pairs stand in the global batch: pair i is number
  // first_pair + i pair_stride there.
  std::uint64_t update = 0, first_pair = 0, pair_stride = 1;
};

struct UpdateResult {
  double negative_log_likelihood = 0;  // nats, all ranks; without label smoothing, with dropout
  double words = 0;                    // target words, </s> included, all ranks
  double gradient_norm = 0;            // of the gradient as `gradient_of` divides it, before the clip
  bool applied = true;                 // false: gradient or loss were not finite, and the weights are as before
  // of this rank; communication is what computing does not hide: waiting for sums and so for slower ranks
  double compute_seconds = 0, communication_seconds = 0, optimizer_seconds = 0;
  PhaseTimes phases;      // of this rank: the same seconds in more detail
  comm::Traffic traffic;  // of this rank; busy_seconds: hidden or not
  /// Seconds from the beginning of the update until each of the model's gradient_parts was known to this rank.
  std::vector<double> part_seconds;
};

class UpdateStep {
 public:
  /// All outlive this. Only what the optimiser, accumulate, seed (for dropout), gradient_of, label_smoothing,
  /// clip_norm, overlap and reduce_precision say is read of the options.
  UpdateStep(const comm::Communicator& communicator, model::Model<float>& model, const TrainOptions& options);

  /// COLLECTIVE, with the same batch_pairs, learning_rate and number of votes on every rank. Throws Error; then the
  /// other ranks wait, so end them all.
  UpdateResult run(const UpdateInput& input);

  Optimizer& optimizer() { return *optimizer_; }

 private:
  // An embedding's gradient, summed over the ranks: only the rows that some rank touched. Memory is kept.
  struct Rows {
    /// From the words of this rank, before their gradient is known, to those of all ranks.
    void begin_union(const comm::Communicator& communicator, const model::Model<float>::TableGradient& table,
                     const UpdateInput& input, const model::ModelOptions& options);
    /// Once this rank's gradient is known.
    void begin_all_reduce(const comm::Communicator& communicator, const layers::RowGradient<float>& own);

    std::vector<std::uint64_t> bits;  // one a word
    comm::Communicator::Ticket united = 0;
    std::vector<std::uint32_t> place;  // of a touched word in `words`
    std::vector<WordId> words;
    std::vector<float> rows;
  };

  UpdateResult update(const UpdateInput& input);
  /// Adds the gradient of this rank's share to the model's, piece by piece; `finished` hears of the last.
  model::Loss accumulate(const UpdateInput& input, const std::function<void(std::size_t part)>& finished);
  void begin_all_reduce(std::size_t part);

  const comm::Communicator& communicator_;
  model::Model<float>& model_;
  const TrainOptions& options_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<Rows> rows_;             // of the model's table_gradients
  std::vector<TableGradient> tables_;  // of the update under way
  std::vector<float> residual_;        // error-feedback residual of gradient(), if bfloat16 is sent
};

}  // namespace rnnsearch::train

// When a training validates: every so many updates, every so many minutes, and within a share of the time.
#pragma once

#include <cstdint>

#include "rnnsearch/train/checkpoint.h"
#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

/// Every rank has one. Without validate_minutes and validation_share the updates alone decide, and is_due() is the same
/// for every training with these options. With one of them the root's clock decides: its vote is summed with the votes
/// of the next update, so that all ranks agree. Seconds are those of the training, over all its attempts.
class ValidationPlan {
 public:
  /// `options` must outlive this object.
  explicit ValidationPlan(const TrainOptions& options) : o_(options) {}

  /// The root's vote after `now` seconds of training: 1 if a validation after `update`, which follows `state`, is due
  /// and fits. One that does not fit stays due. It fits if the time of all validations, with a next one that takes as
  /// long as the last one did, is at most validation_share of the time that the training would then have taken. The
  /// first one always fits.
  double vote(std::uint64_t update, const TrainingState& state, double now) const;
  /// Takes the sum of the votes.
  void agreed(double votes) { agreed_ = votes > 0; }
  /// Whether to validate at this state.
  bool is_due(const TrainingState& state) const;
  /// Whether a validation after `update` counts for schedules and early stopping: one at a limit, between two regular
  /// ones, does not, because a training with a larger limit would not make it. Nothing counts if the clock decides.
  bool counts(std::uint64_t update) const;

  /// States in `state` that a validation took the time from `began` to `ended`. One that was interrupted stays due.
  void validated(double began, double ended, bool interrupted, TrainingState& state);

 private:
  bool by_clock() const { return o_.validate_minutes > 0 || o_.validation_share > 0; }

  const TrainOptions& o_;
  bool agreed_ = false;
};

}  // namespace rnnsearch::train

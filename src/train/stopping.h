// When a training stops: at its limits, at a signal, or early enough to write its last checkpoint before the deadline.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "rnnsearch/base/signals.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/train/checkpoint.h"
#include "rnnsearch/train/options.h"
#include "rnnsearch/train/trainer.h"
#include "train/snapshot.h"

namespace rnnsearch::train {

/// The longest durations so far, in seconds, of the steps between two checks of the deadline.
struct Longest {
  double update = 0, validation_part = 0, checkpoint = 0;

  static void observe(double& longest, double seconds) { longest = std::max(longest, seconds); }
  /// Upper bound of the time from a check that lets the run continue until the checkpoint after the next check is
  /// written: the rest of a checkpoint that is being written, one that is due, an update or a part of a validation, the
  /// check, the rest of that update, and the last checkpoint. What is written in the background slows the updates down
  /// at the same time, but by no more than the time that it would take alone.
  double until_saved(const CheckpointWriter& writer) const;
};

/// Decides when to stop. Every rank has one, and reason() is the same on all of them: the ranks agree on what only some
/// of them know, in votes that an update sums or in should_stop_early().
class Stopping {
 public:
  /// The number of ranks that received a signal; whether the time is up; whether the deadline is near. Only the root's
  /// clock decides the latter two.
  using Votes = std::array<double, 3>;

  /// All arguments must outlive this object. The time of this attempt begins now.
  Stopping(const TrainerInputs& parts, const StopSignals& signals, const CheckpointWriter& writer);

  /// States the seconds that earlier attempts took, which are the same on all ranks.
  void resume(double elapsed_seconds);

  /// This rank's votes.
  Votes votes() const;
  /// Takes the sums of all ranks' votes.
  void agreed(const Votes& sums);
  /// COLLECTIVE. Checks for signals on all ranks and for the deadline. Returns true if the run must stop early. After a
  /// validation also checks max-minutes, because the update that votes on it would be validated as well.
  bool should_stop_early(bool after_validation = false);

  /// The reason to stop at this state, if any.
  std::optional<StopReason> reason(const TrainingState& state) const;
  /// The result of a training that stopped for `reason`: a signal or the deadline may have come since.
  StopReason final_reason(StopReason reason) const;

  /// Training time in seconds, over all attempts.
  double elapsed() const { return elapsed_before_ + attempt_.seconds(); }

  /// What an update takes at the moment, and how far the training is.
  struct Pace {
    double seconds_an_update = 0, pairs_an_update = 0;
    double epochs = 0;  // that are done; 1.5 is in the middle of the second
    double epoch_pairs = 0;
  };
  /// Seconds to the nearest limit; negative if there is none. By the clock of this rank.
  double seconds_left(std::uint64_t update, const Pace& pace) const;

  Longest longest;  // used at the root only

 private:
  bool time_is_up() const { return o_.max_minutes > 0 && elapsed() >= o_.max_minutes * 60; }
  /// Uses the root's clock; false on the other ranks.
  bool deadline_is_near() const;

  const TrainerInputs& p_;
  const TrainOptions& o_;
  const StopSignals& signals_;
  const CheckpointWriter& writer_;
  Stopwatch attempt_;
  double elapsed_before_ = 0;
  // All ranks agree on these three.
  bool signalled_ = false, time_up_ = false, deadline_near_ = false;
};

/// When a training validates: every so many updates, every so many minutes, and within a share of the time. Every rank
/// has one. Without validate_minutes and validation_share the updates alone decide, and is_due() is the same
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

// What a training tells of itself: lines of RUN/log.jsonl, the history that its checkpoints carry, and Progress.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/train/checkpoint.h"
#include "rnnsearch/train/trainer.h"
#include "rnnsearch/train/transfer.h"
#include "rnnsearch/train/update.h"
#include "train/snapshot.h"

namespace rnnsearch::train {

/// The figures of the updates in state.interval, the last of which gave `result` at `learning_rate`. seconds_left and
/// parameter_norm are not among them.
UpdateReport report_of(const TrainingState& state, const model::ModelOptions& model, const TrainOptions& options,
                       const UpdateResult& result, double learning_rate, double epoch_share);

/// Used at the root only. A line says at which update it was written: that of `state`, unless stated otherwise.
class RunRecord {
 public:
  /// All arguments must outlive this object.
  RunRecord(const TrainerInputs& parts, const TrainingState& state, History& history)
      : p_(parts), state_(state), history_(history) {}

  void began_with(const Transferred& transferred);
  void resumed(const std::string& checkpoint);
  /// Options, and the measure of the "scores", that are not what they were in the attempt before.
  void changed(const std::vector<RunDirectory::Change>& changes);
  /// Adds the norm of the parameters to a report that is logged.
  void updated(UpdateReport report);
  /// seconds: what the validation took; share: of the time of the training that all its validations took.
  void validated(const ValidationResult& result, bool best, double seconds, double share);
  /// Of the update that the checkpoint holds.
  void checkpointed(const CheckpointWriter::Written& written);
  void signalled(int signal);
  /// Seconds of the whole training, of this attempt's updates, and of the part of these spent waiting for sentences.
  void stopped(StopReason reason, double elapsed_seconds, double update_seconds, double data_seconds);

 private:
  void add(const char* event, const Json& figures);
  void add(const char* event, std::uint64_t update, const Json& figures);

  const TrainerInputs& p_;
  const TrainingState& state_;
  History& history_;
};

}  // namespace rnnsearch::train

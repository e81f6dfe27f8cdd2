// The training loop, on all ranks alike. Every rank holds the same weights, bit for bit, and applies the same updates;
// the batch sequence is global, the gradient is a sum over all ranks, and whatever ends the loop is agreed on by all of
// them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/model/model.h"
#include "rnnsearch/train/checkpoint.h"
#include "rnnsearch/train/options.h"
#include "rnnsearch/train/run_directory.h"

namespace rnnsearch::train {

struct ValidationResult {
  double loss_per_word = 0;  // nats, </s> counted
  double bleu = 0;           // 0 to 100; NaN: not computed
  bool interrupted = false;  // should_stop said so; the other fields mean nothing then
};

/// COLLECTIVE: every rank calls it, and every rank calls should_stop equally often (it asks all ranks); true: give up.
/// All ranks return the same result; the root's counts.
using Validator = std::function<ValidationResult(model::Model<float>& model, std::uint64_t update,
                                                 const std::function<bool()>& should_stop)>;

enum class StopReason { kUpdates, kEpochs, kMinutes, kPatience, kSignal, kDeadline };
std::string sentence_of(StopReason reason);
/// A signal or the deadline ended it before it was done: the same command goes on.
bool is_early(StopReason reason);

/// What one update did. Rates and seconds are those of the root, means since the last logged update.
struct UpdateReport {
  std::uint64_t update = 0;
  std::uint64_t epoch = 0;
  double epoch_share = 0;    // of this epoch's pairs, 0 to 1
  double loss_per_word = 0;  // nats, </s> counted, without label smoothing, with dropout
  double gradient_norm = 0;  // of the gradient as `gradient_of` divides it, before the clip; the last update's
  double learning_rate = 0;  // the last update's
  // of the updates since the last logged one, </s> not counted: the same on any number of ranks
  std::uint64_t pairs = 0, source_words = 0, target_words = 0;
  double source_words_per_second = 0, target_words_per_second = 0;  // without </s>, all ranks together
  // of an update; data is waiting for sentences, communication is what computing does not hide, waiting for slower
  // ranks included
  double data_seconds = 0, compute_seconds = 0, communication_seconds = 0, optimizer_seconds = 0;
  double reduction_seconds = 0;  // in which sums of the gradient were under way, hidden or not
  double megabytes_sent = 0;     // by the root in them, an update
  double seconds_left = -1;      // to the nearest limit; below 0: there is none
  bool skipped = false;          // its gradient was not finite
  bool logged = false;           // the means begin anew after this one
};

/// Called at the root only, from the training thread.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void resumed(const std::filesystem::path& /*checkpoint*/, const TrainingState&) {}
  virtual void updated(const UpdateReport&) {}
  virtual void validated(std::uint64_t /*update*/, const ValidationResult&, bool /*best*/) {}
  virtual void checkpointed(const std::filesystem::path&, double /*seconds*/) {}
};

struct TrainerParts {
  const comm::Communicator& communicator;
  const corpus::Corpus& corpus;
  model::Model<float>& model;  // of the corpus's vocabulary sizes; its weights are initialised, or read, by `train`
  TrainOptions options;
  RunDirectory* run = nullptr;   // the root's; nullptr elsewhere
  Validator validator{};         // empty: no validation
  Progress* progress = nullptr;  // may be nullptr
  /// Seconds since 1970 by the root's clock. The run stops early enough that its last checkpoint is written by then,
  /// as far as its updates, parts of a validation, and checkpoints take no longer than the longest of this attempt so
  /// far.
  std::optional<double> deadline{};
};

/// The batches that a training with these options takes.
corpus::BatchOptions batch_options(const TrainOptions& options);

struct TrainingResult {
  StopReason reason = StopReason::kUpdates;
  TrainingState state;
  // of this attempt, at this rank
  double update_seconds = 0;  // of all its updates
  double data_seconds = 0;    // in them: waiting for sentences
};

/// Trains until a limit, early stopping, the deadline, or a signal; resumes as options.resume says. COLLECTIVE. The
/// last update is in a checkpoint when it returns. Throws Error; the other ranks then wait in a collective, so end them
/// all.
TrainingResult train(const TrainerParts& parts);

}  // namespace rnnsearch::train

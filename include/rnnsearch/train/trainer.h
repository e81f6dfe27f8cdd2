// The training loop, which runs on all ranks. Every rank holds the same weights, bit for bit, and applies the same
// updates. The batch sequence is global, the gradient is summed over all ranks, and all ranks agree on when to stop.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "rnnsearch/base/training_log.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/comm/launch.h"
#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/model/model.h"
#include "rnnsearch/train/checkpoint.h"
#include "rnnsearch/train/optimizer.h"
#include "rnnsearch/train/options.h"
#include "rnnsearch/train/run_directory.h"

namespace rnnsearch::train {

struct ValidationResult {
  double loss_per_word = 0;  // nats; words include </s>
  double bleu = 0;           // 0 to 100; NaN if it was not computed
  bool interrupted = false;  // should_stop returned true; the other fields are then meaningless
  double chrf = std::numeric_limits<double>::quiet_NaN();  // 0 to 100; NaN if it was not computed
  double ter = std::numeric_limits<double>::quiet_NaN();   // from 0, the best; NaN if it was not computed

  double by(BestMetric metric) const;
};

/// Validates the model after `update`. COLLECTIVE: every rank calls it, and every rank calls should_stop (which is
/// collective too) equally often; when that returns true, the validator gives up. The result of the root is used.
using Validator = std::function<ValidationResult(model::Model& model, std::uint64_t update,
                                                 const std::function<bool()>& should_stop)>;

enum class StopReason { kUpdates, kEpochs, kMinutes, kPatience, kSignal, kDeadline };
std::string description_of(StopReason reason);
/// Whether a signal or the deadline stopped the training before it was done. The same command then resumes it.
bool is_early(StopReason reason);

inline constexpr double kStopBeforeMinutes = 2;  // a checkpoint of paper scale, written slowly, and some air

/// When the training must stop, because the job of this process will end.
struct Deadline {
  std::optional<double> unix_seconds;  // nothing: it is not known when the job ends
  std::string line;                    // for people; may be empty
};

/// The end of the job is RNNSEARCH_END_TIME or else SLURM_JOB_END_TIME, in seconds since 1970; empty or 0: not known.
/// The deadline is `stop_before` minutes earlier (by default kStopBeforeMinutes). Throws Error for a text that is not
/// such a number, and for a deadline before `now`, because a job without time for an update would be requeued for ever.
Deadline deadline_of(std::optional<double> stop_before, const comm::Lookup& environment, double now);

/// How many words of a new vocabulary the other one has, too.
struct Match {
  std::size_t words = 0, found = 0;  // `words` of the new vocabulary, `found` of them in the other one as well
  std::size_t other_words = 0;
};

/// What a training began with that began with the parameters of another one (fine-tuning).
struct Transferred {
  std::filesystem::path checkpoint;
  std::uint64_t update = 0;  // of the checkpoint
  Match source, target;
  /// How the text of the two was split otherwise: "tokenizer moses then and words now"; empty if it was not.
  std::string other_text;
};

/// Copies the parameters of a checkpoint into `model`, which is initialised for the vocabularies of `corpus`: rows and
/// columns of words that both vocabularies have, and everything that belongs to no word; the rest stays as it was
/// initialised. Takes the moving average of the parameters if the checkpoint holds one. With `optimizer`, its
/// accumulators and steps are copied as well, and what belongs to new words stays 0. `initial` is a run directory
/// (checkpoint_of) or a checkpoint. Throws Error, naming the option and both values, when the two models have different
/// options other than those of the vocabularies, of dropout and of the initialisation; with `optimizer`, when the
/// checkpoint was made by another one or holds no state of it.
Transferred transfer(const std::filesystem::path& initial, const corpus::Corpus& corpus, const TrainOptions& options,
                     model::Model& model, Optimizer* optimizer = nullptr);

/// Reports one update; its figures cover the updates since the last logged one.
struct UpdateReport : UpdateFigures {
  std::uint64_t update = 0;
  double seconds_left = -1;  // time to the nearest limit; negative if there is no limit
  bool skipped = false;      // the gradient was not finite
  bool logged = false;       // the update was logged, and the means start again after it
};

/// Receives the progress of a training. Its members are called at the root only, from the training thread.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void began_with(const Transferred&, bool /*optimizer*/) {}
  virtual void resumed(const std::filesystem::path& /*checkpoint*/, const TrainingState&) {}
  virtual void updated(const UpdateReport&) {}
  virtual void validated(std::uint64_t /*update*/, const ValidationResult&, bool /*best*/) {}
  /// seconds: the time to write it; pause_seconds: the part of it in which training waited.
  virtual void checkpointed(const std::filesystem::path&, double /*seconds*/, double /*pause_seconds*/) {}
};

struct TrainerInputs {
  const comm::Communicator& communicator;
  const corpus::Corpus& corpus;
  model::Model& model;  // with the vocabulary sizes of the corpus; `train` initialises or reads its weights
  TrainOptions options;
  RunDirectory* run = nullptr;   // set at the root only
  Validator validator{};         // if empty, there is no validation
  Progress* progress = nullptr;  // may be nullptr
  /// Seconds since 1970 by the root's clock. The run stops early enough to write its last checkpoint by then, provided
  /// that no update, part of a validation or checkpoint takes longer than the longest one of this attempt so far.
  std::optional<double> deadline{};
  /// Corpora that are mixed into `corpus` (corpus/mixture.h).
  std::span<const corpus::MixedCorpus> mix{};
  std::string dev_set{};    // what the scores of the validator depend on: the dev set's digest, the beam
  bool only_check = false;  // return before the first update; `run` then writes nothing either
};

/// The memory of the copy from which the root writes checkpoints in the background, in bytes; 0 if they are
/// synchronous.
double snapshot_bytes(const TrainOptions& options, std::size_t parameters);

/// The batch options of a training with these options.
corpus::BatchOptions batch_options(const TrainOptions& options);

struct TrainingResult {
  StopReason reason = StopReason::kUpdates;
  TrainingState state;
  // Measured at this rank in this attempt:
  double update_seconds = 0;  // total time of all updates
  double data_seconds = 0;    // the part of it spent waiting for sentences
};

/// Trains until a limit, early stopping, the deadline or a signal; resumes as options.resume says. COLLECTIVE. When it
/// returns, the last update is in a checkpoint, unless its gradient was not finite. Throws Error; the other ranks may
/// then wait in a collective, so the caller must end all ranks.
TrainingResult train(const TrainerInputs& parts);

}  // namespace rnnsearch::train

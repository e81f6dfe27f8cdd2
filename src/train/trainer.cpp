#include "rnnsearch/train/trainer.h"

#include <algorithm>
#include <array>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/train/update.h"
#include "train/run_record.h"
#include "train/snapshot.h"
#include "train/stopping.h"

namespace rnnsearch::train {
namespace {

class Trainer {
 public:
  explicit Trainer(const TrainerInputs& parts)
      : p_(parts),
        o_(parts.options),
        root_(parts.communicator.is_root()),
        step_(parts.communicator, parts.model, o_),
        average_(o_.average_decay, parts.model.parameters().size()),
        batches_(parts.corpus, batch_options(o_), parts.communicator.rank(), parts.communicator.size(),
                 shards_of_rank(o_, parts.communicator.size()), parts.mix),
        fingerprint_(corpus::fingerprint_of(parts.corpus, parts.mix)) {}

  TrainingResult run() {
    start();
    if (p_.only_check) return {StopReason::kSignal, state_};
    if (root_ && !o_.synchronous_checkpoints) writer_.reserve(checkpoint_source(state_, history_));
    stopping_.should_stop_early();
    for (;;) {
      if (!stopping_.reason(state_) && p_.validator && plan_.is_due(state_)) {
        validate();
        stopping_.should_stop_early(true);
      }
      if (const auto reason = stopping_.reason(state_)) return finish(*reason);
      if (checkpoint_is_due()) save(o_.synchronous_checkpoints);
      update();
      collect(false);
    }
  }

 private:
  void start() {
    std::string checkpoint;
    if (root_) {
      if (const auto path = p_.run->checkpoint_to_resume()) checkpoint = path->string();
    }
    p_.communicator.broadcast(checkpoint);
    if (checkpoint.empty()) {
      p_.model.initialise(o_.seed);
      const auto transferred = begin_with_initial_model();
      if (root_) record_.changed(p_.run->begin());
      if (transferred) record_.began_with(*transferred);
      if (p_.validator) state_.measured_by = measured_by();
      average_.begin(p_.model.parameters());
      state_.corpus_fingerprint = fingerprint_;
      state_.world_size = static_cast<std::uint64_t>(p_.communicator.size());
      find_data();
      return;
    }
    // Only the root reads: the file need not be visible to the other ranks, and all ranks get the same bits.
    std::string state, measured_before;
    if (root_) {
      const comm::Activity activity(p_.communicator, "reads a checkpoint");
      state_ =
          resume_checkpoint(checkpoint, fingerprint_, o_, p_.model, step_.optimizer(), history_, average_.values());
      measured_before = state_.measured_by;
      begin_scores_anew_if_need_be();
      state = packed(state_);
    }
    p_.communicator.broadcast(state);
    state_ = training_state_of(state);
    state_.world_size = static_cast<std::uint64_t>(p_.communicator.size());
    p_.communicator.broadcast(p_.model.parameters());
    if (!average_.empty()) p_.communicator.broadcast(average_.values());
    broadcast_optimizer();
    find_data();
    stopping_.resume(state_.elapsed_seconds);
    if (!root_) return;
    const auto changes = p_.run->begin();
    // False if the checkpoint belongs to another run's folder. An attempt of this run may have been killed between
    // saving its last checkpoint and pointing `latest` to it; published() makes up for that.
    saved_ = p_.run->has_checkpoint(state_.update);
    if (saved_) p_.run->published(state_.update, state_.best_update);
    saved_update_ = state_.update;
    record_.resumed(checkpoint);
    record_.changed(changes);
    if (!measured_before.empty() && measured_before != state_.measured_by) {
      record_.changed({{"scores", measured_before, state_.measured_by}});
      log_line("[train] the best checkpoint, early-stop-patience and the plateau begin anew with these scores");
    }
  }

  /// Other measures than before: best, patience and plateau begin anew, and the parameters are validated again. In
  /// another run's folder than that of the checkpoint, the run has a best and a patience of its own. A best whose file
  /// is gone, as it was removed when a later checkpoint became the best that is now damaged, is none.
  void begin_scores_anew_if_need_be() {
    if (!p_.run->has_checkpoint(state_.best_update)) state_.best_update = 0;
    const bool measured_otherwise = p_.validator && state_.measured_by != measured_by();
    if (measured_otherwise) {
      state_.measured_by = measured_by();
      state_.plateau = {.factor = state_.plateau.factor};
      state_.validated_update = 0;
      state_.validations.ended = 0;
    }
    if (!measured_otherwise && p_.run->has_checkpoint(state_.update)) return;
    state_.best_update = 0;
    state_.patience = {};
  }

  std::string measured_by() const { return fmt::format("{} on {}", name_of(o_.best_metric), p_.dev_set); }

  /// COLLECTIVE. At the root: what was transferred, if an initial model is given.
  std::optional<Transferred> begin_with_initial_model() {
    std::optional<Transferred> transferred;
    if (o_.initial_model.empty()) return transferred;
    Optimizer* const optimizer = o_.initial_optimizer ? &step_.optimizer() : nullptr;
    comm::root_does(p_.communicator, [&] {
      const comm::Activity activity(p_.communicator, "reads the initial model");
      transferred = transfer(o_.initial_model, p_.corpus, o_, p_.model, optimizer);
    });
    p_.communicator.broadcast(p_.model.parameters());
    if (optimizer) broadcast_optimizer();
    return transferred;
  }

  void broadcast_optimizer() {
    for (const auto& [name, values] : step_.optimizer().accumulators()) p_.communicator.broadcast(values);
    p_.communicator.broadcast(std::span(&step_.optimizer().steps, 1));
  }

  void find_data() {
    const comm::Activity activity(p_.communicator, "reads sentences");
    batches_.seek(state_.position);
  }

  void update() {
    const Stopwatch whole;
    Stopwatch watch;
    const corpus::BatchSlice slice = [&] {
      const comm::Activity activity(p_.communicator, "reads sentences");
      return batches_.next();
    }();
    const double waited = watch.lap();
    LogInterval& interval = state_.interval;
    interval.data_seconds += waited;
    waited_ += waited;

    Stopping::Votes stop{};
    std::array<double, stop.size() + 1> votes{};  // those of stop, and that of plan_
    const double rate = learning_rate(o_, {state_.update + 1, epochs(), state_.plateau.factor});
    const auto vote = [&] {
      writer_.copied();  // the weights change after this
      stop = stopping_.votes();
      *std::copy(stop.begin(), stop.end(), votes.begin()) =
          root_ ? plan_.vote(state_.update + 1, state_, stopping_.elapsed()) : 0;
    };
    const UpdateResult result = step_.run({slice, rate, votes, vote, state_.update + 1});
    ++state_.update;
    saved_ = false;
    watch.lap();
    if (result.applied) average_.follow(p_.model.parameters(), state_.update);
    interval.optimizer_seconds += watch.lap();
    state_.position = slice.after;
    std::copy_n(votes.begin(), stop.size(), stop.begin());
    stopping_.agreed(stop);
    plan_.agreed(votes.back());
    count(slice, result);
    if (root_) report(result, rate);
    if (state_.update % o_.log_every == 0) interval = {};
    const double seconds = whole.seconds();
    in_updates_ += seconds;
    Longest::observe(stopping_.longest.update, seconds);
    if (!result.applied && state_.skipped_in_a_row >= o_.max_skipped) end_without_finite_gradients();
  }

  /// Adds an update to the state and the interval of the log.
  void count(const corpus::BatchSlice& slice, const UpdateResult& result) {
    LogInterval& interval = state_.interval;
    ++interval.updates;
    interval.pairs += slice.batch_pairs;
    interval.source_words += slice.batch_source_words;
    interval.target_words += slice.batch_target_words;
    interval.compute_seconds += result.compute_seconds;
    interval.communication_seconds += result.communication_seconds;
    interval.bytes_sent += result.traffic.bytes_sent;
    interval.reduction_seconds += result.traffic.busy_seconds;
    interval.optimizer_seconds += result.optimizer_seconds;
    if (result.applied) {
      state_.skipped_in_a_row = 0;
      interval.negative_log_likelihood += result.negative_log_likelihood;
      interval.words += result.words;
    } else {
      ++state_.skipped_updates;
      ++state_.skipped_in_a_row;
    }
  }

  /// COLLECTIVE. Throws Error.
  void end_without_finite_gradients() {
    std::string checkpoint;
    collect(true);
    if (root_) {
      const auto checkpoints = checkpoints_of(p_.run->path());
      checkpoint = checkpoints.empty() ? "" : checkpoints.front().filename().string();
    }
    p_.communicator.broadcast(checkpoint);
    throw Error(
        "the gradients of {} updates in a row were not finite, up to update {}; {} with a lower learning-rate or "
        "clip-norm",
        state_.skipped_in_a_row, state_.update,
        checkpoint.empty() ? "there is no earlier checkpoint, so start again"
                           : "the parameters of " + checkpoint + " are finite: resume");
  }

  void report(const UpdateResult& result, double rate) {
    UpdateReport r = report_of(state_, p_.model.options(), o_, result, rate, epoch_share());
    const double pairs_an_update =
        static_cast<double>(state_.interval.pairs) / static_cast<double>(state_.interval.updates);
    r.seconds_left = stopping_.seconds_left(
        state_.update, {r.seconds, pairs_an_update, epochs(), static_cast<double>(batches_.epoch_pairs())});
    record_.updated(r);
  }

  double epoch_share() const {
    return static_cast<double>(state_.position.pairs) / static_cast<double>(batches_.epoch_pairs());
  }
  double epochs() const { return static_cast<double>(state_.position.epoch) + epoch_share(); }

  void validate() {
    const comm::Activity activity(p_.communicator, "validates");
    const std::uint64_t update = state_.update;
    const double began = stopping_.elapsed();
    Stopwatch part;
    writer_.copied();
    average_.exchange(p_.model.parameters());
    ValidationResult result = p_.validator(p_.model, update, [&] {
      Longest::observe(stopping_.longest.validation_part, part.lap());
      return stopping_.should_stop_early();
    });
    average_.exchange(p_.model.parameters());
    Longest::observe(stopping_.longest.validation_part, part.lap());
    double agreed[] = {result.loss_per_word, result.bleu, result.chrf, result.ter, result.interrupted ? 1.0 : 0.0};
    if (!root_) std::fill_n(agreed, 4, 0.0);
    p_.communicator.all_reduce(std::span<double>(agreed));
    result = {agreed[0], agreed[1], agreed[4] > 0, agreed[2], agreed[3]};
    plan_.validated(began, stopping_.elapsed(), result.interrupted, state_);
    if (result.interrupted) return;  // the resumed run validates this update
    state_.validated_update = update;
    const double score = result.by(o_.best_metric);
    if (plan_.counts(update)) {
      state_.plateau.validated(result.loss_per_word, o_.plateau_patience);
      state_.patience.validated(score, o_.best_metric);
    }
    const auto best_score = state_.best_update > 0 ? std::optional(state_.best_score) : std::nullopt;
    const bool best = may_save() && is_gain(o_.best_metric, score, best_score);
    if (best) {
      state_.best_score = score;
      state_.best_update = update;
    }
    const ValidationTimes& times = state_.validations;
    if (root_) record_.validated(result, best, times.last, times.spent / times.ended);
    saved_ = false;
    if (best) save(o_.synchronous_checkpoints);
  }

  // A checkpoint that falls due after a skipped update waits for the next update that is applied: parameters whose
  // gradient is not finite would replace those from before the divergence.
  bool may_save() const { return state_.update > 0 && state_.skipped_in_a_row == 0; }

  // Only the root writes checkpoints, so only the root decides.
  bool checkpoint_is_due() const {
    if (!root_ || saved_ || !may_save()) return false;
    const std::uint64_t every = o_.checkpoint_every;
    return (every > 0 && (state_.update % every == 0 || state_.update / every > saved_update_ / every)) ||
           (o_.checkpoint_minutes > 0 && since_checkpoint_.seconds() >= o_.checkpoint_minutes * 60);
  }

  CheckpointSource checkpoint_source(const TrainingState& state, const History& history) {
    return {p_.model,
            step_.optimizer(),
            state,
            history,
            p_.corpus.source_vocabulary(),
            p_.corpus.target_vocabulary(),
            p_.corpus.pipeline(),
            o_,
            average_.values()};
  }

  /// Writes a checkpoint in the background, or while training waits if `wait` is set. One is written at a time: the one
  /// before is waited for. Nothing that it holds may then change before writer_.copied().
  void save(bool wait) {
    if (!root_) return;
    collect(true);
    state_.elapsed_seconds = stopping_.elapsed();
    if (saved_update_ != state_.update) state_.former_checkpoint = saved_update_;
    const auto source = [this, state = state_, history = history_] { return checkpoint_source(state, history); };
    writer_.begin(state_.update, source, wait);
    saved_ = true;
    saved_update_ = state_.update;
    since_checkpoint_ = {};
    if (wait) collect(true);
  }

  /// Writes a checkpoint and makes it the newest one of the run. Called by the thread of writer_: it uses nothing else
  /// that training changes.
  void write(const CheckpointSource& source) const {
    p_.run->write_as_this_attempt([&](const std::function<void()>& check) {
      save_checkpoint(p_.run->checkpoint_path(source.state.update), source, check);
    });
    p_.run->published(source.state.update, source.state.best_update);
  }

  /// Records a checkpoint that has been written since the last call. With `wait`, waits for one that is being written.
  void collect(bool wait) {
    const comm::Activity activity(p_.communicator, "writes a checkpoint");
    const auto written = writer_.finished(wait);
    if (!written) return;
    Longest::observe(stopping_.longest.checkpoint, written->seconds);
    record_.checkpointed(*written);
  }

  TrainingResult finish(StopReason reason) {
    if (root_ && reason == StopReason::kSignal) record_.signalled(signals_.received());
    // Validate the last weights too, as they may be the best. Not if the run stops early: time is short then, and the
    // run will be resumed anyway.
    const bool unseen = p_.validator && validates(o_) && state_.validated_update < state_.update;
    if (!is_early(reason) && unseen) validate();
    if (!saved_ && may_save()) save(true);
    collect(true);
    if (root_ && state_.skipped_in_a_row > 0) {
      log_line(fmt::format("[train] the gradient of update {} was not finite, so no checkpoint of it is written; {}",
                           state_.update,
                           saved_update_ > 0 ? fmt::format("the newest one is of update {}", saved_update_)
                                             : std::string("there is none")));
    }
    if (root_) record_.stopped(reason, stopping_.elapsed(), in_updates_, waited_);
    state_.elapsed_seconds = stopping_.elapsed();
    return {stopping_.final_reason(reason), state_, in_updates_, waited_};
  }

  const TrainerInputs& p_;
  const TrainOptions& o_;
  const bool root_;
  const StopSignals signals_;
  UpdateStep step_;
  ParameterAverage average_;
  corpus::BatchSequence batches_;
  const std::string fingerprint_;  // of the corpora
  TrainingState state_;
  History history_;                         // used at the root only
  RunRecord record_{p_, state_, history_};  // used at the root only
  Stopping stopping_{p_, signals_, writer_};
  ValidationPlan plan_{o_};
  Stopwatch since_checkpoint_;
  double in_updates_ = 0;           // seconds of this attempt spent in updates
  double waited_ = 0;               // the part of in_updates_ spent waiting for sentences
  std::uint64_t saved_update_ = 0;  // of the newest checkpoint
  bool saved_ = false;  // the newest checkpoint of the run holds the current state, or is being written and will
  // Used at the root only. Declared last, because its destructor waits for a thread that uses the members above.
  CheckpointWriter writer_{[this](const CheckpointSource& source) { write(source); }};
};

}  // namespace

double ValidationResult::by(BestMetric metric) const {
  return std::array{loss_per_word, bleu, chrf, ter}[static_cast<std::size_t>(metric)];
}

double snapshot_bytes(const TrainOptions& options, std::size_t parameters) {
  if (options.synchronous_checkpoints) return 0;
  const std::size_t blocks = 1 + (options.average_decay > 0 ? 1 : 0) + accumulators_of(options);
  return static_cast<double>(blocks * parameters * sizeof(float));
}

corpus::BatchOptions batch_options(const TrainOptions& options) {
  corpus::BatchOptions batches;
  batches.batch_sentences = options.batch_sentences;
  batches.batch_words = options.batch_words;
  batches.pool_batches = options.pool_batches;
  batches.seed = options.seed;
  batches.shuffle = options.shuffle != Shuffle::kNever;
  batches.reshuffle = options.shuffle == Shuffle::kEveryEpoch;
  batches.shuffle_batches = options.batch_order != BatchOrder::kByLength;
  batches.curriculum = options.batch_order == BatchOrder::kCurriculum;
  batches.sampled_softmax = options.sampled_softmax;
  batches.prefetch = options.prefetch;
  return batches;
}

TrainingResult train(const TrainerInputs& parts) {
  check(parts.options);
  return Trainer(parts).run();
}

}  // namespace rnnsearch::train

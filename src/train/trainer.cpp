#include "rnnsearch/train/trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/figures.h"
#include "rnnsearch/base/log.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/train/parameter_average.h"
#include "rnnsearch/train/update.h"
#include "train/snapshot.h"

namespace rnnsearch::train {
namespace {

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The longest durations so far, in seconds, of the steps between two checks of the deadline.
struct Longest {
  double update = 0, validation_part = 0, checkpoint = 0;

  static void observe(double& longest, double seconds) { longest = std::max(longest, seconds); }
  /// Upper bound of the time from a check that lets the run continue until the checkpoint after the next check is
  /// written: the rest of a checkpoint that is being written, one that is due, an update or a part of a validation, the
  /// check, the rest of that update, and the last checkpoint. What is written in the background slows the updates down
  /// at the same time, but by no more than the time that it would take alone.
  double until_saved(const CheckpointWriter& writer) const {
    const double one = std::max(checkpoint, writer.seconds());
    return (writer.busy() ? one : 0) + one + std::max(update, validation_part) + update + one;
  }
};

class Trainer {
 public:
  explicit Trainer(const TrainerParts& parts)
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
    if (root_ && !o_.synchronous_checkpoints) writer_.reserve(checkpoint_source(state_, history_));
    should_stop_early();
    for (;;) {
      if (!reason_to_stop() && validation_is_due()) validate();
      if (const auto reason = reason_to_stop()) return finish(*reason);
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
      if (root_) p_.run->begin();
      if (transferred) record_transfer(*transferred);
      average_.begin(p_.model.parameters());
      state_.corpus_fingerprint = fingerprint_;
      state_.world_size = static_cast<std::uint64_t>(p_.communicator.size());
      find_data();
      return;
    }
    // Only the root reads: the file need not be visible to the other ranks, and all ranks get the same bits.
    std::string state;
    if (root_) {
      const comm::Activity activity("reads a checkpoint");
      state_ =
          resume_checkpoint(checkpoint, fingerprint_, o_, p_.model, step_.optimizer(), history_, average_.values());
      state = packed(state_);
    }
    p_.communicator.broadcast(state);
    state_ = training_state_of(state);
    state_.world_size = static_cast<std::uint64_t>(p_.communicator.size());
    p_.communicator.broadcast(p_.model.parameters());
    if (!average_.empty()) p_.communicator.broadcast(average_.values());
    broadcast_optimizer();
    find_data();
    elapsed_before_ = state_.elapsed_seconds;
    time_up_ = o_.max_minutes > 0 && elapsed_before_ >= o_.max_minutes * 60;
    if (!root_) return;
    p_.run->begin();
    // False if the checkpoint belongs to another run's folder. An attempt of this run may have been killed between
    // saving its last checkpoint and pointing `latest` to it; published() makes up for that.
    saved_ = p_.run->has_checkpoint(state_.update);
    if (saved_) p_.run->published(state_.update, state_.best_update);
    record("resume", {{"checkpoint", checkpoint},
                      {"ranks", state_.world_size},
                      {"precision", kernels::name_of(kernels::precision())}});
    if (p_.progress) p_.progress->resumed(checkpoint, state_);
  }

  /// COLLECTIVE. At the root: what was transferred, if an initial model is given.
  std::optional<Transferred> begin_with_initial_model() {
    std::optional<Transferred> transferred;
    if (o_.initial_model.empty()) return transferred;
    Optimizer* const optimizer = o_.initial_optimizer ? &step_.optimizer() : nullptr;
    comm::root_does(p_.communicator, [&] {
      const comm::Activity activity("reads the initial model");
      transferred = transfer(o_.initial_model, p_.corpus, o_, p_.model, optimizer);
    });
    p_.communicator.broadcast(p_.model.parameters());
    if (optimizer) broadcast_optimizer();
    return transferred;
  }

  void record_transfer(const Transferred& t) {
    record("initial-model", {{"checkpoint", t.checkpoint.string()},
                             {"source_words", t.source.words},
                             {"source_words_found", t.source.found},
                             {"target_words", t.target.words},
                             {"target_words_found", t.target.found},
                             {"optimizer", o_.initial_optimizer}});
    if (p_.progress) p_.progress->began_with(t, o_.initial_optimizer);
  }

  void broadcast_optimizer() {
    for (const auto& [name, values] : step_.optimizer().accumulators()) p_.communicator.broadcast(values);
    p_.communicator.broadcast(std::span(&step_.optimizer().steps, 1));
  }

  void find_data() {
    const comm::Activity activity("reads sentences");
    batches_.seek(state_.position);
  }

  void update() {
    const Stopwatch whole;
    Stopwatch watch;
    const corpus::BatchSlice slice = [&] {
      const comm::Activity activity("reads sentences");
      return batches_.next();
    }();
    const double waited = watch.lap();
    LogInterval& interval = state_.interval;
    interval.data_seconds += waited;
    waited_ += waited;

    // The number of ranks that received a signal; whether the time is up; whether the deadline is near. Only the root's
    // clock decides the latter two.
    double votes[3] = {};
    const double rate = learning_rate(o_, {state_.update + 1, epochs(), state_.plateau.factor});
    const auto vote = [&] {
      writer_.copied();  // the weights change after this
      votes[0] = signals_.received() != 0 ? 1 : 0;
      votes[1] = root_ && time_is_up() ? 1 : 0;
      votes[2] = deadline_is_near() ? 1 : 0;
    };
    const UpdateResult result = step_.run({slice.source, slice.target, slice.batch_pairs, rate, votes, vote,
                                           state_.update + 1, slice.first_pair, slice.pair_stride, slice.links});
    interval.compute_seconds += result.compute_seconds;
    interval.communication_seconds += result.communication_seconds;
    interval.bytes_sent += result.traffic.bytes_sent;
    interval.reduction_seconds += result.traffic.busy_seconds;
    interval.optimizer_seconds += result.optimizer_seconds;
    if (result.applied) {
      state_.skipped_in_a_row = 0;
    } else {
      ++state_.skipped_updates;
      ++state_.skipped_in_a_row;
    }

    ++state_.update;
    saved_ = false;
    watch.lap();
    if (result.applied) average_.follow(p_.model.parameters(), state_.update);
    interval.optimizer_seconds += watch.lap();
    state_.position = slice.after;
    signalled_ = votes[0] > 0;
    time_up_ = votes[1] > 0;
    deadline_near_ = votes[2] > 0;
    ++interval.updates;
    interval.pairs += slice.batch_pairs;
    interval.source_words += slice.batch_source_words;
    interval.target_words += slice.batch_target_words;
    if (result.applied) {
      interval.negative_log_likelihood += result.negative_log_likelihood;
      interval.words += result.words;
    }
    if (root_) report(result.gradient_norm, rate, !result.applied);
    if (state_.update % o_.log_every == 0) interval = {};
    const double seconds = whole.seconds();
    in_updates_ += seconds;
    Longest::observe(longest_.update, seconds);
    if (!result.applied && state_.skipped_in_a_row >= o_.max_skipped) {
      std::string checkpoint;
      collect(true);
      if (root_) {
        const auto checkpoints = checkpoints_of(p_.run->path());
        checkpoint = checkpoints.empty() ? "" : checkpoints.front().filename().string();
      }
      p_.communicator.broadcast(checkpoint);
      throw Error(text_of("the gradients of ", state_.skipped_in_a_row,
                          " updates in a row were not finite, up to update ", state_.update, "; ",
                          checkpoint.empty() ? "there is no checkpoint from before, so begin again"
                                             : "the parameters of " + checkpoint + " are finite: resume",
                          " with a lower learning-rate or clip-norm"));
    }
  }

  void report(double norm, double rate, bool skipped) {
    const LogInterval& interval = state_.interval;
    const double updates = static_cast<double>(interval.updates);
    const double wall =
        interval.data_seconds + interval.compute_seconds + interval.communication_seconds + interval.optimizer_seconds;
    UpdateReport r;
    r.update = state_.update;
    r.epoch = state_.position.epoch;
    r.epoch_share = epoch_share();
    r.loss_per_word = interval.words > 0 ? interval.negative_log_likelihood / interval.words : std::nan("");
    r.label_smoothing = o_.label_smoothing;
    r.gradient_norm = norm;
    r.learning_rate = rate;
    r.skipped_share = static_cast<double>(state_.skipped_updates) / static_cast<double>(state_.update);
    r.pairs = interval.pairs;
    r.source_words = interval.source_words;
    r.target_words = interval.target_words;
    r.source_words_per_second = static_cast<double>(r.source_words) / wall;
    r.target_words_per_second = static_cast<double>(r.target_words) / wall;
    r.seconds = wall / updates;
    r.data_seconds = interval.data_seconds / updates;
    r.compute_seconds = interval.compute_seconds / updates;
    r.communication_seconds = interval.communication_seconds / updates;
    r.reduction_seconds = interval.reduction_seconds / updates;
    r.megabytes_sent = static_cast<double>(interval.bytes_sent) / 1e6 / updates;
    r.optimizer_seconds = interval.optimizer_seconds / updates;
    r.seconds_left = seconds_left(r.seconds, static_cast<double>(interval.pairs) / updates);
    r.skipped = skipped;
    r.logged = state_.update % o_.log_every == 0;
    if (skipped) {
      log_line(text_of("[train] update ", r.update, ": the gradient is not finite, so the update is skipped (",
                       state_.skipped_updates, " skipped updates so far)"));
      record("skip", {{"skipped_updates", state_.skipped_updates}});
    }
    if (r.logged) {
      r.parameter_norm = std::sqrt(squared_norm_of(p_.model.parameters()));
      std::vector<Json::Member> figures;
      for_each_figure(r, [&](const char* name, const auto& figure) { figures.emplace_back(name, figure); });
      record("update", std::move(figures));
      history_.updates.push_back({r.update, r.loss_per_word, r.learning_rate, r.target_words_per_second});
    }
    if (p_.progress) p_.progress->updated(r);
  }

  double epoch_share() const {
    return static_cast<double>(state_.position.pairs) / static_cast<double>(batches_.epoch_pairs());
  }
  double epochs() const { return static_cast<double>(state_.position.epoch) + epoch_share(); }

  double seconds_left(double seconds_an_update, double pairs_an_update) const {
    double left = -1;
    const auto consider = [&](double seconds) { left = left < 0 ? std::max(0.0, seconds) : std::min(left, seconds); };
    if (o_.max_minutes > 0) consider(o_.max_minutes * 60 - elapsed());
    if (p_.deadline) consider(*p_.deadline - longest_.until_saved(writer_) - unix_seconds());
    if (o_.max_updates > 0) {
      consider(seconds_an_update * (static_cast<double>(o_.max_updates) - static_cast<double>(state_.update)));
    }
    if (o_.max_epochs > 0) {
      const double left_epochs = static_cast<double>(o_.max_epochs) - epochs();
      consider(seconds_an_update * left_epochs * static_cast<double>(batches_.epoch_pairs()) / pairs_an_update);
    }
    return left;
  }

  bool validation_is_due() const {
    return p_.validator && o_.validate_every > 0 && state_.update > 0 && state_.update % o_.validate_every == 0 &&
           state_.validated_update < state_.update;
  }

  void validate() {
    const comm::Activity activity("validates");
    const std::uint64_t update = state_.update;
    Stopwatch part;
    writer_.copied();
    average_.exchange(p_.model.parameters());
    ValidationResult result = p_.validator(p_.model, update, [&] {
      Longest::observe(longest_.validation_part, part.lap());
      return should_stop_early();
    });
    average_.exchange(p_.model.parameters());
    Longest::observe(longest_.validation_part, part.lap());
    double agreed[] = {result.loss_per_word, result.bleu, result.chrf, result.ter, result.interrupted ? 1.0 : 0.0};
    if (!root_) std::fill_n(agreed, 4, 0.0);
    p_.communicator.all_reduce(std::span<double>(agreed));
    result = {agreed[0], agreed[1], agreed[4] > 0, agreed[2], agreed[3]};
    if (result.interrupted) return;  // the resumed run validates this update
    state_.validated_update = update;
    const double score = result.by(o_.best_metric);
    // A validation at a limit, between two regular ones, does not count: a run with a larger limit would not make it.
    if (update % o_.validate_every == 0) {
      state_.plateau.validated(result.loss_per_word, o_.plateau_patience);
      state_.patience.validated(score, o_.best_metric);
    }
    const bool best =
        is_gain(o_.best_metric, score, state_.best_update > 0 ? std::optional(state_.best_score) : std::nullopt);
    if (best) {
      state_.best_score = score;
      state_.best_update = update;
    }
    if (root_) {
      history_.validations.push_back({update, result.loss_per_word, result.bleu});
      record("validation", {{"loss_per_word", result.loss_per_word},
                            {"bleu", result.bleu},
                            {"chrf", result.chrf},
                            {"ter", result.ter},
                            {"best", best}});
      if (p_.progress) p_.progress->validated(update, result, best);
    }
    saved_ = false;
    if (best) save(o_.synchronous_checkpoints);
  }

  /// COLLECTIVE. Checks for signals on all ranks and for the deadline. Returns true if the run must stop early.
  bool should_stop_early() {
    std::array<double, 2> flags{signals_.received() != 0 ? 1.0 : 0.0, deadline_is_near() ? 1.0 : 0.0};
    p_.communicator.max(std::span<double>(flags));
    signalled_ = signalled_ || flags[0] > 0;
    deadline_near_ = deadline_near_ || flags[1] > 0;
    return signalled_ || deadline_near_;
  }

  /// Uses the root's clock; false on the other ranks.
  bool deadline_is_near() const {
    return root_ && p_.deadline && unix_seconds() + longest_.until_saved(writer_) >= *p_.deadline;
  }

  /// Depends only on values that are equal on all ranks.
  std::optional<StopReason> reason_to_stop() const {
    if (signalled_) return StopReason::kSignal;
    if (o_.max_updates > 0 && state_.update >= o_.max_updates) return StopReason::kUpdates;
    if (o_.max_epochs > 0 && state_.position.epoch >= o_.max_epochs) return StopReason::kEpochs;
    if (o_.early_stop_patience > 0 && state_.patience.validations_without_gain >= o_.early_stop_patience) {
      return StopReason::kPatience;
    }
    if (time_up_) return StopReason::kMinutes;
    if (deadline_near_) return StopReason::kDeadline;
    return {};
  }

  double elapsed() const { return elapsed_before_ + attempt_.seconds(); }
  bool time_is_up() const { return o_.max_minutes > 0 && elapsed() >= o_.max_minutes * 60; }

  // Only the root writes checkpoints, so only the root decides.
  bool checkpoint_is_due() const {
    if (!root_ || state_.update == 0 || saved_) return false;
    return (o_.checkpoint_every > 0 && state_.update % o_.checkpoint_every == 0) ||
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
    state_.elapsed_seconds = elapsed();
    const auto source = [this, state = state_, history = history_] { return checkpoint_source(state, history); };
    writer_.begin(state_.update, source, wait);
    saved_ = true;
    since_checkpoint_ = {};
    if (wait) collect(true);
  }

  /// Writes a checkpoint and makes it the newest one of the run. Called by the thread of writer_: it uses nothing else
  /// that training changes.
  void write(const CheckpointSource& source) const {
    p_.run->check_attempt();
    try {
      save_checkpoint(p_.run->checkpoint_path(source.state.update), source);
    } catch (const Error&) {
      p_.run->check_attempt();  // if another attempt removed the temporary file, report that instead
      throw;
    }
    p_.run->published(source.state.update, source.state.best_update);
  }

  /// Records a checkpoint that has been written since the last call. With `wait`, waits for one that is being written.
  void collect(bool wait) {
    const comm::Activity activity("writes a checkpoint");
    const auto written = writer_.finished(wait);
    if (!written) return;
    Longest::observe(longest_.checkpoint, written->seconds);
    const auto path = p_.run->checkpoint_path(written->update);
    record(
        "checkpoint", written->update,
        {{"file", path.filename().string()}, {"seconds", written->seconds}, {"pause_seconds", written->pause_seconds}});
    if (p_.progress) p_.progress->checkpointed(path, written->seconds, written->pause_seconds);
  }

  TrainingResult finish(StopReason reason) {
    if (root_ && reason == StopReason::kSignal) record("signal", {{"signal", signals_.received()}});
    // Validate the last weights too, as they may be the best. Not if the run stops early: time is short then, and the
    // run will be resumed anyway.
    const bool unseen = p_.validator && o_.validate_every > 0 && state_.validated_update < state_.update;
    if (!is_early(reason) && unseen) validate();
    if (!saved_ && state_.update > 0) save(true);
    collect(true);
    if (root_)
      record("stop", {{"reason", description_of(reason)},
                      {"elapsed_seconds", elapsed()},
                      {"update_seconds", in_updates_},
                      {"data_seconds", waited_}});
    state_.elapsed_seconds = elapsed();
    return {signalled_       ? StopReason::kSignal
            : deadline_near_ ? StopReason::kDeadline
                             : reason,
            state_, in_updates_, waited_};
  }

  void record(const char* event, std::vector<Json::Member> members) {
    record(event, state_.update, std::move(members));
  }
  void record(const char* event, std::uint64_t update, std::vector<Json::Member> members) {
    std::vector<Json::Member> all{
        {"event", event}, {"update", update}, {"time", utc(std::time(nullptr))}, {"schema", kLogSchema}};
    std::move(members.begin(), members.end(), std::back_inserter(all));
    p_.run->log(Json::object(std::move(all)));
  }

  const TrainerParts& p_;
  const TrainOptions& o_;
  const bool root_;
  const StopSignals signals_;
  UpdateStep step_;
  ParameterAverage average_;
  corpus::BatchSequence batches_;
  const std::string fingerprint_;  // of the corpora
  TrainingState state_;
  History history_;  // used at the root only
  // All ranks agree on these three.
  bool signalled_ = false, time_up_ = false, deadline_near_ = false;
  Longest longest_;  // used at the root only
  Stopwatch attempt_, since_checkpoint_;
  double elapsed_before_ = 0;
  double in_updates_ = 0;  // seconds of this attempt spent in updates
  double waited_ = 0;      // the part of in_updates_ spent waiting for sentences
  bool saved_ = false;     // the newest checkpoint of the run holds the current state, or is being written and will
  // Used at the root only. Declared last, because its destructor waits for a thread that uses the members above.
  CheckpointWriter writer_{[this](const CheckpointSource& source) { write(source); }};
};

}  // namespace

double ValidationResult::by(BestMetric metric) const {
  switch (metric) {
    case BestMetric::kLoss:
      return loss_per_word;
    case BestMetric::kBleu:
      return bleu;
    case BestMetric::kChrf:
      return chrf;
    case BestMetric::kTer:
      return ter;
  }
  return loss_per_word;
}

std::string description_of(StopReason reason) {
  switch (reason) {
    case StopReason::kUpdates:
      return "max-updates reached";
    case StopReason::kEpochs:
      return "max-epochs reached";
    case StopReason::kMinutes:
      return "max-minutes reached";
    case StopReason::kPatience:
      return "no gain for early-stop-patience validations";
    case StopReason::kSignal:
      return "a signal asked to stop";
    case StopReason::kDeadline:
      return "the job's end is near";
  }
  return "";
}

bool is_early(StopReason reason) {
  return reason == StopReason::kSignal || reason == StopReason::kDeadline;
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
  batches.shuffle_batches = options.batch_order == BatchOrder::kShuffled;
  batches.prefetch = options.prefetch;
  return batches;
}

TrainingResult train(const TrainerParts& parts) {
  check(parts.options);
  return Trainer(parts).run();
}

}  // namespace rnnsearch::train

// What a training tells of itself: lines of RUN/log.jsonl, the history that its checkpoints carry, and Progress.
#pragma once

#include <cmath>
#include <cstdint>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/train/checkpoint.h"
#include "rnnsearch/train/trainer.h"
#include "rnnsearch/train/update.h"
#include "train/snapshot.h"

namespace rnnsearch::train {

/// The figures of the updates in state.interval, the last of which gave `result` at `learning_rate`. seconds_left and
/// parameter_norm are not among them.
inline UpdateReport report_of(const TrainingState& state, const model::ModelOptions& model, const TrainOptions& options,
                              const UpdateResult& result, double learning_rate, double epoch_share) {
  const LogInterval& interval = state.interval;
  const double updates = static_cast<double>(interval.updates);
  const double wall =
      interval.data_seconds + interval.compute_seconds + interval.communication_seconds + interval.optimizer_seconds;
  UpdateReport r;
  r.update = state.update;
  r.epoch = state.position.epoch;
  r.epoch_share = epoch_share;
  r.loss_per_word = interval.words > 0 ? interval.negative_log_likelihood / interval.words : std::nan("");
  r.label_smoothing = options.label_smoothing.at(state.update);
  r.guided_alignment = options.guided_alignment.at(state.update);
  r.dropout = model.dropout.at(state.update);
  r.gradient_norm = result.gradient_norm;
  r.learning_rate = learning_rate;
  r.skipped_share = static_cast<double>(state.skipped_updates) / static_cast<double>(state.update);
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
  r.skipped = !result.applied;
  r.logged = state.update % options.log_every == 0;
  return r;
}

/// Used at the root only. A line says at which update it was written: that of `state`, unless stated otherwise.
class RunRecord {
 public:
  /// All arguments must outlive this object.
  RunRecord(const TrainerInputs& parts, const TrainingState& state, History& history)
      : p_(parts), state_(state), history_(history) {}

  void began_with(const Transferred& t) {
    add("initial-model", {{"checkpoint", t.checkpoint.string()},
                          {"source_words", t.source.words},
                          {"source_words_found", t.source.found},
                          {"target_words", t.target.words},
                          {"target_words_found", t.target.found},
                          {"optimizer", p_.options.initial_optimizer}});
    if (p_.progress) p_.progress->began_with(t, p_.options.initial_optimizer);
  }
  void resumed(const std::string& checkpoint) {
    add("resume", {{"checkpoint", checkpoint}, {"ranks", state_.world_size}, {"arithmetic", kernels::arithmetic()}});
    if (p_.progress) p_.progress->resumed(checkpoint, state_);
  }
  /// Options, and the measure of the "scores", that are not what they were in the attempt before.
  void changed(const std::vector<RunDirectory::Change>& changes) {
    for (const auto& [what, from, to] : changes) {
      add("change", {{"what", what}, {"from", from}, {"to", to}});
      log_line(fmt::format("[train] {} from here on: {}; before: {}", what, to.empty() ? "none" : to,
                           from.empty() ? "none" : from));
    }
  }
  /// Adds the norm of the parameters to a report that is logged.
  void updated(UpdateReport r) {
    if (r.skipped) {
      log_line(fmt::format(
          "[train] update {}: the gradient is not finite, so the update is skipped ({} skipped updates so far)",
          r.update, state_.skipped_updates));
      add("skip", {{"skipped_updates", state_.skipped_updates}});
    }
    if (r.logged) {
      r.parameter_norm = std::sqrt(squared_norm_of(p_.model.parameters()));
      Json figures;
      for_each_figure(r, [&](const char* name, const auto& figure) { figures[name] = figure; });
      add("update", figures);
      history_.updates.push_back({r.update, r.loss_per_word, r.learning_rate, r.target_words_per_second});
    }
    if (p_.progress) p_.progress->updated(r);
  }
  /// seconds: what the validation took; share: of the time of the training that all its validations took.
  void validated(const ValidationResult& result, bool best, double seconds, double share) {
    history_.validations.push_back({state_.update, result.loss_per_word, result.bleu});
    add("validation", {{"loss_per_word", result.loss_per_word},
                       {"bleu", result.bleu},
                       {"chrf", result.chrf},
                       {"ter", result.ter},
                       {"best", best},
                       {"seconds", seconds},
                       {"share", share}});
    if (p_.progress) p_.progress->validated(state_.update, result, best);
  }
  /// Of the update that the checkpoint holds.
  void checkpointed(const CheckpointWriter::Written& written) {
    const auto path = p_.run->checkpoint_path(written.update);
    add("checkpoint", written.update,
        {{"file", path.filename().string()}, {"seconds", written.seconds}, {"pause_seconds", written.pause_seconds}});
    if (p_.progress) p_.progress->checkpointed(path, written.seconds, written.pause_seconds);
  }
  void signalled(int signal) { add("signal", {{"signal", signal}}); }
  /// Seconds of the whole training, of this attempt's updates, and of the part of these spent waiting for sentences.
  void stopped(StopReason reason, double elapsed_seconds, double update_seconds, double data_seconds) {
    add("stop", {{"reason", description_of(reason)},
                 {"elapsed_seconds", elapsed_seconds},
                 {"update_seconds", update_seconds},
                 {"data_seconds", data_seconds}});
  }

 private:
  void add(const char* event, const Json& figures) { add(event, state_.update, figures); }
  void add(const char* event, std::uint64_t update, const Json& figures) {
    Json record =
        Json::object({{"event", event}, {"update", update}, {"time", utc(std::time(nullptr))}, {"schema", kLogSchema}});
    record.update(figures);
    p_.run->log(record);
  }

  const TrainerInputs& p_;
  const TrainingState& state_;
  History& history_;
};

}  // namespace rnnsearch::train

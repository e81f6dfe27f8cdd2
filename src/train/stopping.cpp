#include "train/stopping.h"

#include <fmt/chrono.h>

#include <span>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::train {
namespace {

std::string utc(double unix_seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(unix_seconds)));
}

std::string minutes(double count) { return fmt::format("{:g}{}", count, count == 1 ? " minute" : " minutes"); }

}  // namespace

std::string description_of(StopReason reason) {
  constexpr std::array<const char*, 6> kInOrder{"max-updates reached",    "max-epochs reached",
                                                "max-minutes reached",    "no gain for early-stop-patience validations",
                                                "a signal asked to stop", "the job's end is near"};
  return kInOrder[static_cast<std::size_t>(reason)];
}

bool is_early(StopReason reason) { return reason == StopReason::kSignal || reason == StopReason::kDeadline; }

double Longest::until_saved(const CheckpointWriter& writer) const {
  const double one = std::max(checkpoint, writer.seconds());
  return (writer.busy() ? one : 0) + one + std::max(update, validation_part) + update + one;
}

Stopping::Stopping(const TrainerInputs& parts, const StopSignals& signals, const CheckpointWriter& writer)
    : p_(parts), o_(parts.options), signals_(signals), writer_(writer) {}

void Stopping::resume(double elapsed_seconds) {
  elapsed_before_ = elapsed_seconds;
  time_up_ = o_.max_minutes > 0 && elapsed_before_ >= o_.max_minutes * 60;
}

Stopping::Votes Stopping::votes() const {
  return {signals_.received() != 0 ? 1.0 : 0.0, p_.communicator.is_root() && time_is_up() ? 1.0 : 0.0,
          deadline_is_near() ? 1.0 : 0.0};
}

void Stopping::agreed(const Votes& sums) {
  signalled_ = sums[0] > 0;
  time_up_ = sums[1] > 0;
  deadline_near_ = sums[2] > 0;
}

bool Stopping::should_stop_early(bool after_validation) {
  Votes flags = votes();
  p_.communicator.max(std::span<double>(flags));
  signalled_ = signalled_ || flags[0] > 0;
  time_up_ = time_up_ || (after_validation && flags[1] > 0);
  deadline_near_ = deadline_near_ || flags[2] > 0;
  return signalled_ || deadline_near_;
}

std::optional<StopReason> Stopping::reason(const TrainingState& state) const {
  if (signalled_) return StopReason::kSignal;
  if (o_.max_updates > 0 && state.update >= o_.max_updates) return StopReason::kUpdates;
  if (o_.max_epochs > 0 && state.position.epoch >= o_.max_epochs) return StopReason::kEpochs;
  if (o_.early_stop_patience > 0 && state.patience.validations_without_gain >= o_.early_stop_patience) {
    return StopReason::kPatience;
  }
  if (time_up_) return StopReason::kMinutes;
  if (deadline_near_) return StopReason::kDeadline;
  return {};
}

StopReason Stopping::final_reason(StopReason reason) const {
  return signalled_ ? StopReason::kSignal : deadline_near_ ? StopReason::kDeadline : reason;
}

double Stopping::seconds_left(std::uint64_t update, const Pace& pace) const {
  double left = -1;
  const auto consider = [&](double seconds) { left = left < 0 ? std::max(0.0, seconds) : std::min(left, seconds); };
  if (o_.max_minutes > 0) consider(o_.max_minutes * 60 - elapsed());
  if (p_.deadline) consider(*p_.deadline - longest.until_saved(writer_) - unix_seconds());
  if (o_.max_updates > 0) {
    consider(pace.seconds_an_update * (static_cast<double>(o_.max_updates) - static_cast<double>(update)));
  }
  if (o_.max_epochs > 0) {
    const double left_epochs = static_cast<double>(o_.max_epochs) - pace.epochs;
    consider(pace.seconds_an_update * left_epochs * pace.epoch_pairs / pace.pairs_an_update);
  }
  return left;
}

bool Stopping::deadline_is_near() const {
  return p_.communicator.is_root() && p_.deadline && unix_seconds() + longest.until_saved(writer_) >= *p_.deadline;
}

Deadline deadline_of(std::optional<double> stop_before, const comm::Lookup& environment, double now) {
  constexpr double kYear10000 = 253402300800;
  const double before = stop_before.value_or(kStopBeforeMinutes);
  for (const char* name : {"RNNSEARCH_END_TIME", "SLURM_JOB_END_TIME"}) {
    const char* const set = environment(name);
    const std::string text = set ? set : "";
    if (text.empty()) continue;
    double end = 0;
    if (!value::read(text, end) || end < 0 || end >= kYear10000) {
      throw UsageError(
          "{} is '{}' but must be when the job ends, in seconds since 1970 (as date +%s prints them); set "
          "RNNSEARCH_END_TIME to it, or to 0 if there is no end",
          name, text);
    }
    if (end == 0) break;
    const double deadline = end - 60 * before;
    if (deadline <= now) {
      throw Error(
          "{} says that the job ends at {}, and stop-before is {}, so no time is left to train; give a smaller "
          "--stop-before, or set RNNSEARCH_END_TIME to the end of the job (0: there is none)",
          name, utc(end), minutes(before));
    }
    return {deadline, fmt::format("will stop with a checkpoint before {}, in {}: {} before the end that {} says",
                                  utc(deadline), duration(deadline - now), minutes(before), name)};
  }
  if (!stop_before) return {};
  return {{},
          "stop-before does nothing, because neither RNNSEARCH_END_TIME nor SLURM_JOB_END_TIME says when the job ends"};
}

double ValidationPlan::vote(std::uint64_t update, const TrainingState& state, double now) const {
  if (!by_clock() || update == state.validated_update) return 0;
  const auto& [ended, spent, last] = state.validations;
  const std::uint64_t every = o_.validate_every;
  const bool by_updates = every > 0 && update / every > state.validated_update / every;
  const bool by_minutes = o_.validate_minutes > 0 && now - ended >= o_.validate_minutes * 60;
  if (!by_updates && !by_minutes) return 0;
  if (o_.validation_share == 0) return 1;
  return spent + last <= o_.validation_share * (now + last) ? 1 : 0;
}

bool ValidationPlan::is_due(const TrainingState& state) const {
  if (by_clock()) return agreed_ && state.validated_update < state.update;
  return state.update > 0 && counts(state.update) && state.validated_update < state.update;
}

bool ValidationPlan::counts(std::uint64_t update) const {
  return !by_clock() && o_.validate_every > 0 && update % o_.validate_every == 0;
}

void ValidationPlan::validated(double began, double ended, bool interrupted, TrainingState& state) {
  agreed_ = false;
  state.validations.spent += ended - began;
  if (interrupted) return;
  state.validations.last = ended - began;
  state.validations.ended = ended;
}

}  // namespace rnnsearch::train

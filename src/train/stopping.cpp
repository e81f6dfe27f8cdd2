#include "train/stopping.h"

#include <chrono>
#include <span>

namespace rnnsearch::train {
namespace {

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

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

bool Stopping::should_stop_early() {
  std::array<double, 2> flags{signals_.received() != 0 ? 1.0 : 0.0, deadline_is_near() ? 1.0 : 0.0};
  p_.communicator.max(std::span<double>(flags));
  signalled_ = signalled_ || flags[0] > 0;
  deadline_near_ = deadline_near_ || flags[1] > 0;
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

bool Stopping::time_is_up() const {
  return o_.max_minutes > 0 && elapsed() >= o_.max_minutes * 60;
}

bool Stopping::deadline_is_near() const {
  return p_.communicator.is_root() && p_.deadline && unix_seconds() + longest.until_saved(writer_) >= *p_.deadline;
}

}  // namespace rnnsearch::train

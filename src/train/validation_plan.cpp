#include "train/validation_plan.h"

namespace rnnsearch::train {

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

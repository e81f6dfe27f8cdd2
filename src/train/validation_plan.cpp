#include "train/validation_plan.h"

namespace rnnsearch::train {

double ValidationPlan::vote(std::uint64_t update, std::uint64_t validated_update, double now) const {
  if (!by_clock() || update == validated_update) return 0;
  const std::uint64_t every = o_.validate_every;
  const bool by_updates = every > 0 && update / every > validated_update / every;
  const bool by_minutes = o_.validate_minutes > 0 && now - ended_ >= o_.validate_minutes * 60;
  if (!by_updates && !by_minutes) return 0;
  if (o_.validation_share == 0) return 1;
  return spent_ + last_ <= o_.validation_share * (now + last_) ? 1 : 0;
}

bool ValidationPlan::is_due(const TrainingState& state) const {
  if (by_clock()) return agreed_ && state.validated_update < state.update;
  return state.update > 0 && counts(state.update) && state.validated_update < state.update;
}

bool ValidationPlan::counts(std::uint64_t update) const {
  return !by_clock() && o_.validate_every > 0 && update % o_.validate_every == 0;
}

void ValidationPlan::validated(double began, double ended) {
  agreed_ = false;
  last_ = ended - began;
  spent_ += last_;
  ended_ = ended;
}

}  // namespace rnnsearch::train

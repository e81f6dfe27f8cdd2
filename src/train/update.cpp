#include "rnnsearch/train/update.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "rnnsearch/base/stopwatch.h"

namespace rnnsearch::train {
namespace {

double scale_of(GradientOf gradient_of, std::uint64_t batch_pairs, double words) {
  switch (gradient_of) {
    case GradientOf::kSum:
      return 1;
    case GradientOf::kSentence:
      return 1 / static_cast<double>(batch_pairs);
    case GradientOf::kWord:
      return 1 / words;
  }
  return 1;
}

}  // namespace

UpdateStep::UpdateStep(const comm::Communicator& communicator, model::Model<float>& model, const TrainOptions& options)
    : communicator_(communicator),
      model_(model),
      options_(options),
      optimizer_(make_optimizer(options, model.parameters().size())) {}

UpdateResult UpdateStep::run(const UpdateInput& input) {
  UpdateResult result;
  Stopwatch watch;
  PhaseTimes& phases = model_.phases();
  phases.clear();
  const auto gradient = model_.gradient();
  {
    const PhaseTimes::Scope scope(&phases, Phase::kOptimizer);
    std::fill(gradient.begin(), gradient.end(), 0.0F);
  }
  const model::Loss loss = model_.accumulate_gradient(input.source, input.target);
  result.compute_seconds = watch.lap();

  if (input.vote) input.vote();
  std::vector<double> sums{loss.negative_log_likelihood, static_cast<double>(loss.words)};  // one reduction for all
  sums.insert(sums.end(), input.votes.begin(), input.votes.end());
  {
    const PhaseTimes::Scope scope(&phases, Phase::kCommunication);
    communicator_.sum(gradient);
    communicator_.sum(std::span<double>(sums));
  }
  result.negative_log_likelihood = sums[0];
  result.words = sums[1];
  std::copy(sums.begin() + 2, sums.end(), input.votes.begin());
  result.communication_seconds = watch.lap();

  {
    const PhaseTimes::Scope scope(&phases, Phase::kOptimizer);
    double scale = scale_of(options_.gradient_of, input.batch_pairs, result.words);
    result.gradient_norm = scale * norm_of(gradient);
    result.applied = std::isfinite(result.gradient_norm) && std::isfinite(result.negative_log_likelihood);
    if (result.applied) {
      if (options_.clip_norm > 0 && result.gradient_norm > options_.clip_norm) {
        scale *= options_.clip_norm / result.gradient_norm;
      }
      optimizer_->update(model_.parameters(), gradient, input.learning_rate, scale);
    }
  }
  result.optimizer_seconds = watch.lap();
  result.phases = phases;
  return result;
}

}  // namespace rnnsearch::train

#include "rnnsearch/train/schedule.h"

#include <algorithm>
#include <cmath>

namespace rnnsearch::train {

double scaled_learning_rate(const TrainOptions& options) {
  const double batch = static_cast<double>(options.batch_words > 0 ? options.batch_words : options.batch_sentences);
  const double ratio = batch / static_cast<double>(options.reference_batch);
  switch (options.scale_learning_rate) {
    case ScaleLearningRate::kNone:
      return options.learning_rate;
    case ScaleLearningRate::kLinear:
      return options.learning_rate * ratio;
    case ScaleLearningRate::kSquareRoot:
      return options.learning_rate * std::sqrt(ratio);
  }
  return options.learning_rate;
}

double learning_rate(const TrainOptions& options, const SchedulePoint& point) {
  const double u = static_cast<double>(point.update), w = static_cast<double>(options.warmup_updates);
  const double rate = scaled_learning_rate(options), start = rate > options.learning_rate ? options.learning_rate : 0;
  const double warm = u < w ? start + (rate - start) * (u / w) : rate;
  switch (options.schedule) {
    case Schedule::kConstant:
      return warm;
    case Schedule::kInverseSquareRoot:
      return rate * std::min(u / w, std::sqrt(w / u));
    case Schedule::kPlateau:
      return warm * point.plateau_factor;
    case Schedule::kHalving: {
      const double past = point.epochs - options.halve_after_epochs;
      const double halvings = past < 0 ? 0 : 1 + std::floor(past / options.halve_every_epochs);
      return std::ldexp(warm, -static_cast<int>(std::min(halvings, 2000.0)));
    }
  }
  return rate;
}

void Plateau::validated(double loss, std::uint64_t patience) {
  if (std::isfinite(loss) && (!seen || loss < best_loss)) {
    seen = true;
    best_loss = loss;
    validations_without_gain = 0;
  } else if (++validations_without_gain >= patience) {
    factor /= 2;
    validations_without_gain = 0;
  }
}

void Patience::validated(double score, BestMetric metric) {
  if (is_gain(metric, score, seen ? std::optional(best_score) : std::nullopt)) {
    seen = true;
    best_score = score;
    validations_without_gain = 0;
  } else {
    ++validations_without_gain;
  }
}

bool is_gain(BestMetric metric, double score, std::optional<double> best) {
  if (!std::isfinite(score)) return false;
  const bool lower_is_better = metric == BestMetric::kLoss || metric == BestMetric::kTer;
  return !best || (lower_is_better ? score < *best : score > *best);
}

}  // namespace rnnsearch::train

// Learning rate schedules and early stopping.
#pragma once

#include <cstdint>
#include <optional>

#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

/// What the learning rate of an update depends on besides the options. All of it is in the checkpoint.
struct SchedulePoint {
  std::uint64_t update = 1;   // u = 1, 2, ...
  double epochs = 0;          // passes over the corpus before this update, including the fraction of the current one
  double plateau_factor = 1;  // Plateau::factor
};

/// The learning rate for the size of the batches, n = batch_words or else batch_sentences, with N = reference_batch:
/// - none: learning_rate
/// - linear: learning_rate * n/N, Goyal et al. (2017), section 2.1, "linear scaling rule"
/// - square-root: learning_rate * sqrt(n/N), Krizhevsky (2014), arXiv 1404.5997, which keeps the variance of the step
double scaled_learning_rate(const TrainOptions& options);

/// The learning rate of update u, with rate = scaled_learning_rate(options) and w = warmup_updates (0: no warm-up). In
/// the warm-up it rises linearly from 0; if the batches are larger than the reference, from learning_rate ("gradual
/// warmup", Goyal et al. (2017), section 2.2), except with inverse-square-root. Written for a rise from 0:
/// - constant: rate * min(1, u/w)
/// - inverse-square-root: rate * min(u/w, sqrt(w/u)), Vaswani et al. (2017), section 5.3, scaled to reach rate at u = w
/// - plateau: rate * min(1, u/w) * factor, with the factor that Plateau halves
/// - halving: rate * min(1, u/w) / 2^k, where k is 0 before halve_after_epochs, then 1, and grows by 1 after each
///   halve_every_epochs (Luong, Pham and Manning 2015, section 4.1)
double learning_rate(const TrainOptions& options, const SchedulePoint& point);

/// The state of the plateau schedule between validations; part of a checkpoint.
struct Plateau {
  double factor = 1;
  double best_loss = 0;  // meaningful if seen
  std::uint64_t validations_without_gain = 0;
  bool seen = false;

  /// Call it after each validation. Halves the factor after `patience` validations in a row without a lower loss, then
  /// starts counting again. A loss that is NaN or infinite does not count as lower.
  void validated(double loss, std::uint64_t patience);
};

/// The state of early stopping between validations; part of a checkpoint.
struct Patience {
  double best_score = 0;  // meaningful if seen
  std::uint64_t validations_without_gain = 0;
  bool seen = false;

  void validated(double score, BestMetric metric);
};

/// Whether the score is finite and better than `best`, if there is a best one.
bool is_gain(BestMetric metric, double score, std::optional<double> best);

}  // namespace rnnsearch::train

// The learning rate, update by update.
#pragma once

#include <cstdint>
#include <optional>

#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

/// What the rate of an update depends on besides the options; a checkpoint holds all of it.
struct SchedulePoint {
  std::uint64_t update = 1;   // u = 1, 2, ...
  double epochs = 0;          // passes over the corpus before this update, fractions too
  double plateau_factor = 1;  // of Plateau
};

/// With w = warmup_updates (0: no warm-up):
/// - constant: rate * min(1, u/w)
/// - inverse-square-root: rate * min(u/w, sqrt(w/u)), of Vaswani et al. (2017), section 5.3, scaled to be rate at w
/// - plateau: rate * min(1, u/w) * factor, halved by Plateau
/// - halving: rate * min(1, u/w) / 2^k, where k is 0 before halve_after_epochs, then 1, and 1 more after each
///   halve_every_epochs (Luong, Pham and Manning 2015, section 4.1)
double learning_rate(const TrainOptions& options, const SchedulePoint& point);

/// What "halve on plateau" remembers between validations; part of a checkpoint.
struct Plateau {
  double factor = 1;
  double best_loss = 0;  // meaningful if seen
  std::uint64_t validations_without_gain = 0;
  bool seen = false;

  /// Halves the factor after `patience` validations in a row without a lower loss, then begins to count again. A loss
  /// that is NaN or infinite is no lower one.
  void validated(double loss, std::uint64_t patience);
};

/// What early stopping remembers between validations; part of a checkpoint.
struct Patience {
  double best_score = 0;  // meaningful if seen
  std::uint64_t validations_without_gain = 0;
  bool seen = false;

  void validated(double score, BestMetric metric);
};

/// The score is finite, and better than `best` if there is one.
bool is_gain(BestMetric metric, double score, std::optional<double> best);

}  // namespace rnnsearch::train

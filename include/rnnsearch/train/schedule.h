// The learning rate, update by update.
#pragma once

#include <cstdint>

#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

/// Of update u = 1, 2, ... With w = warmup_updates (0: no warm-up):
///   constant             rate * min(1, u/w)
///   inverse-square-root  rate * min(u/w, sqrt(w/u))     Vaswani et al. (2017), section 5.3, scaled to reach `rate` at
///   w plateau              rate * min(1, u/w) * factor    factor: halved by Plateau
double learning_rate(const TrainOptions& options, std::uint64_t update, double plateau_factor);

/// What "halve on plateau" remembers between validations; part of a checkpoint.
struct Plateau {
  double factor = 1;
  double best_loss = 0;  // meaningful if seen
  std::uint64_t validations_without_gain = 0;
  bool seen = false;

  /// Halves the factor after `patience` validations in a row without a lower loss, then begins to count again.
  void validated(double loss, std::uint64_t patience);
};

}  // namespace rnnsearch::train

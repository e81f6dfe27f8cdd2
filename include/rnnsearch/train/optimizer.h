// From a gradient to an update. All of it is elementwise, over fixed blocks on all threads: the bits do not depend on
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/train/options.h"

namespace rnnsearch::train {

/// The Euclidean norm, summed in double precision over fixed blocks in a fixed order. Not finite exactly when an
/// element is not: the squares of floats cannot overflow a double.
double norm_of(std::span<const float> gradient);

class Optimizer {
 public:
  struct Accumulator {
    std::string name;         // as in the checkpoint: /optimizer/<name>/<parameter>
    std::span<float> values;  // one an element of the parameter block; owned by the optimiser
  };

  virtual ~Optimizer() = default;
  /// In place; g_i = scale * gradient_i is what the formula sees (the clip and the division are in `scale`).
  /// All spans have the size given to make_optimizer.
  virtual void update(std::span<float> parameters, std::span<const float> gradient, double learning_rate,
                      double scale) = 0;
  virtual std::vector<Accumulator> accumulators() = 0;
  /// How often `update` was called; part of a checkpoint, Adam's t.
  std::uint64_t steps = 0;
};

/// Accumulators begin at 0. `size`: elements of the parameter block.
std::unique_ptr<Optimizer> make_optimizer(const TrainOptions& options, std::size_t size);

}  // namespace rnnsearch::train

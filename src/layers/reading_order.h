// The order in which the steps of a packed batch are read.
#pragma once

#include <cstddef>

#include "rnnsearch/layers/gated_recurrence.h"
#include "rnnsearch/layers/packing.h"

namespace rnnsearch::layers {

/// The step before t in the reading direction, and the number of its sentences that continue in t.
struct PreviousStep {
  std::size_t step = 0;
  std::size_t continuing = 0;
};

inline PreviousStep previous_step(const Packing& packing, Direction direction, std::size_t t) {
  if (direction == Direction::kForward) return t == 0 ? PreviousStep{} : PreviousStep{t - 1, packing.active[t]};
  return {t + 1, packing.continuing(t)};
}

}  // namespace rnnsearch::layers

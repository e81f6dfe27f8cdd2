// Which step is read before which.
#pragma once

#include <cstddef>

#include "rnnsearch/layers/gated_recurrence.h"
#include "rnnsearch/layers/packing.h"

namespace rnnsearch::layers {

/// The step before t in the direction of reading, and how many of its sentences go on into t.
struct Before {
  std::size_t step = 0;
  std::size_t continuing = 0;
};

inline Before before(const Packing& packing, Direction direction, std::size_t t) {
  if (direction == Direction::kForward) return t == 0 ? Before{} : Before{t - 1, packing.active[t]};
  return {t + 1, packing.continuing(t)};
}

}  // namespace rnnsearch::layers

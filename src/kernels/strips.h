// How the rows of op(a) are cut.
#pragma once

#include <algorithm>
#include <cstddef>

#include "rnnsearch/base/ceil_div.h"

namespace rnnsearch::kernels {

/// M rows, at least one, in as few strips of at most max_rows as there can be. They differ by one row_step at most, but
/// that the last one has what is left: a short one would keep the processor waiting. max_rows is a multiple of
/// row_step.
class Strips {
 public:
  Strips(std::size_t max_rows, std::size_t row_step, std::size_t M)
      : count(ceil_div(M, max_rows)), M_(M), step_(row_step) {
    const std::size_t steps = ceil_div(M, row_step);
    few_ = steps / count;
    longer_ = steps % count;
  }
  const std::size_t count;

  std::size_t first(std::size_t strip) const { return std::min(M_, (strip * few_ + std::min(strip, longer_)) * step_); }
  std::size_t rows(std::size_t strip) const { return first(strip + 1) - first(strip); }

 private:
  std::size_t M_, step_, few_, longer_;  // the first `longer_` strips have few_ + 1 steps, the others few_
};

}  // namespace rnnsearch::kernels

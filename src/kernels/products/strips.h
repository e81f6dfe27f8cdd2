// The division of the rows of op(a) into strips.
#pragma once

#include <algorithm>
#include <cstddef>

#include "rnnsearch/base/ceil_div.h"

namespace rnnsearch::kernels {

/// Divides M >= 1 rows into the smallest possible number of strips of at most max_rows rows. Their sizes differ by at
/// most one row_step, except that the last one holds the rest: much shorter strips would use the processor badly.
/// max_rows must be a multiple of row_step.
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

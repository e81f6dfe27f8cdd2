// The same training from several fresh seeds: what its score is on average, and how far that is known.
#pragma once

#include <cstddef>
#include <span>

namespace rnnsearch::evaluate {

/// Of n rounds that are independent of each other.
struct RoundMean {
  std::size_t rounds = 0;
  double mean = 0, least = 0, most = 0;
  /// The 95% confidence interval of the mean is mean -+ this: Student's t with n - 1 degrees of freedom times the
  /// standard error. Infinite of a single round. Where scores have an end (100), the interval may reach beyond it.
  double half_width = 0;
};

/// Of at least one score.
RoundMean mean_over_rounds(std::span<const double> scores);

/// The t that Student's distribution with so many degrees of freedom (at least 1) stays within, on both sides, with
/// probability `within` (above 0, below 1).
double student_t(double within, std::size_t degrees_of_freedom);

}  // namespace rnnsearch::evaluate

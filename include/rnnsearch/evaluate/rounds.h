// The mean score of several trainings with different seeds, and its confidence interval.
#pragma once

#include <cstddef>
#include <span>

namespace rnnsearch::evaluate {

/// Statistics of n independent rounds.
struct RoundMean {
  std::size_t rounds = 0;
  double mean = 0, least = 0, most = 0;
  /// The 95% confidence interval of the mean is mean +- half_width: Student's t with n - 1 degrees of freedom times the
  /// standard error. Infinite for a single round. The interval may exceed the range of the scores, such as 100.
  double half_width = 0;
};

/// REQUIRES: at least one score.
RoundMean mean_over_rounds(std::span<const double> scores);

/// The t for which a variable with Student's distribution is in [-t, t] with probability `within`. REQUIRES: 0 < within
/// < 1, degrees_of_freedom >= 1.
double student_t(double within, std::size_t degrees_of_freedom);

}  // namespace rnnsearch::evaluate

// Minimum error rate training (Och 2003, Minimum error rate training in statistical machine translation): fits the
// weights of the features of n-best lists so that the BLEU of the best hypotheses is as large as possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rnnsearch/evaluate/bleu.h"

namespace rnnsearch::evaluate {

/// What fitting needs of a hypothesis. L source lines, F features.
struct Candidate {
  std::vector<double> features;  // [F], finite
  BleuStatistics statistics;
};
using Candidates = std::vector<std::vector<Candidate>>;  // [L][at least one]

/// The sum of the statistics of each line's hypothesis with the largest weighted_sum, the first of several. Uses all
/// threads; the sums are of integers.
BleuStatistics statistics_of_best(const Candidates& candidates, std::span<const double> weights);

/// The statistics of the best hypotheses on a line through the space of weights, weights + gamma direction, are
/// constant between finitely many values of gamma.
struct Step {
  double from;  // gamma; -infinity for the first step. The step ends where the next one begins
  BleuStatistics statistics;
};
/// All these steps, by ascending gamma (section 5 of Och 2003). The score of each hypothesis is a line over gamma, the
/// best hypothesis of a source line is on the upper envelope of its lines, and the statistics change where an envelope
/// has a corner. Exact up to the rounding of a corner's place. weights, direction: [F].
std::vector<Step> steps_along(const Candidates& candidates, std::span<const double> weights,
                              std::span<const double> direction);

struct MertOptions {
  BleuOptions bleu;
  std::size_t restarts = 20;           // searches from random weights, besides the one from the start
  std::size_t random_directions = 10;  // in each round of line searches, besides the axes
  std::uint64_t seed = 12345;
};

struct MertResult {
  std::vector<double> weights;  // [F]; the sum of their magnitudes is 1, up to rounding
  double bleu = 0;              // BLEU of the hypotheses that these weights choose, never less than start_bleu
  double start_bleu = 0;
  std::size_t line_searches = 0;
};

/// Searches from the start weights, and then from each of the random weights: rounds of line searches along all axes
/// and along random directions are repeated until a round gains nothing. The best result is returned, the first of
/// equally good ones. A feature that differs in no source line decides nothing and keeps its weight of the start. Units
/// of the features do not matter: axes and random numbers are divided by the standard deviation of each feature within
/// source lines. A gain counts only after the BLEU at the new weights was computed from the hypotheses that they
/// choose. Bit-identical for any number of threads. `check_stop` is called before each line search and may throw.
/// REQUIRES: start [F].
MertResult tune(const Candidates& candidates, std::span<const double> start, const MertOptions& options,
                const std::function<void()>& check_stop = {});

}  // namespace rnnsearch::evaluate

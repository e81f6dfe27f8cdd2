#include "rnnsearch/evaluate/mert.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/random.h"
#include "rnnsearch/evaluate/n_best_list.h"

namespace rnnsearch::evaluate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kLinesPerPiece = 64;
/// Rounds of one search; it ends long before, because BLEU grows in each.
constexpr std::size_t kRounds = 100;
/// Between corners that are closer than this, relative to their magnitude, rounding decides who is best.
constexpr double kNarrow = 1e-9;

/// Calls act(i) for each line, on all threads.
void for_every_line(std::size_t lines, const std::function<void(std::size_t)>& act) {
  parallel_for(ceil_div(lines, kLinesPerPiece), [&](std::size_t piece) {
    const std::size_t end = std::min(lines, (piece + 1) * kLinesPerPiece);
    for (std::size_t i = piece * kLinesPerPiece; i < end; ++i) act(i);
  });
}

/// The score of hypothesis `number` over gamma.
struct ScoreLine {
  double slope, at_zero;
  std::size_t number;
};

/// Where an envelope goes over to another hypothesis.
struct Corner {
  double gamma;  // -infinity for the hypothesis that it begins with
  std::size_t number;
};

/// The upper envelope of the lines of one source line. They are sorted by slope, so that each is best to the right of
/// those before it, or nowhere.
std::vector<Corner> upper_envelope(std::vector<ScoreLine> lines) {
  std::sort(lines.begin(), lines.end(), [](const ScoreLine& a, const ScoreLine& b) {
    if (a.slope != b.slope) return a.slope < b.slope;
    return a.at_zero != b.at_zero ? a.at_zero > b.at_zero : a.number < b.number;
  });
  std::vector<ScoreLine> best;
  std::vector<Corner> corners;
  for (const ScoreLine& line : lines) {
    if (!best.empty() && best.back().slope == line.slope) continue;  // parallel, and not above it
    double gamma = -kInfinity;
    while (!best.empty()) {
      gamma = (best.back().at_zero - line.at_zero) / (line.slope - best.back().slope);
      if (gamma > corners.back().gamma) break;
      best.pop_back();  // it is best nowhere: the line is above it from before its own corner on
      corners.pop_back();
      gamma = -kInfinity;
    }
    best.push_back(line);
    corners.push_back({gamma, line.number});
  }
  return corners;
}

void subtract(BleuStatistics& sum, const BleuStatistics& part) {
  for (std::size_t n = 0; n < kBleuOrders; ++n) {
    sum.correct[n] -= part.correct[n];
    sum.total[n] -= part.total[n];
  }
  sum.hypothesis_length -= part.hypothesis_length;
  sum.reference_length -= part.reference_length;
}

double bleu_at(const Candidates& candidates, std::span<const double> weights, const BleuOptions& options) {
  return bleu_of(statistics_of_best(candidates, weights), options).score;
}

std::vector<double> moved(std::span<const double> weights, double gamma, std::span<const double> direction) {
  std::vector<double> there(weights.begin(), weights.end());
  for (std::size_t k = 0; k < there.size(); ++k) there[k] += gamma * direction[k];
  return there;
}

/// A gamma inside the step, far from its ends.
double inside(double from, double to) {
  if (from == -kInfinity && to == kInfinity) return 0;
  if (from == -kInfinity) return to - std::max(1.0, std::abs(to));
  if (to == kInfinity) return from + std::max(1.0, std::abs(from));
  return from + (to - from) / 2;
}

/// The standard deviation of each feature within source lines; 0 for one that differs in none.
std::vector<double> spreads_of(const Candidates& candidates, std::size_t features) {
  std::vector<double> spreads(features);
  for (std::size_t k = 0; k < features; ++k) {
    double squares = 0;
    std::size_t count = 0;
    bool differs = false;
    for (const auto& line : candidates) {
      double mean = 0;
      for (const Candidate& candidate : line) {
        mean += candidate.features[k];
        differs = differs || candidate.features[k] != line.front().features[k];
      }
      mean /= static_cast<double>(line.size());
      for (const Candidate& candidate : line) {
        squares += (candidate.features[k] - mean) * (candidate.features[k] - mean);
      }
      count += line.size();
    }
    if (differs) spreads[k] = std::sqrt(squares / static_cast<double>(count));
  }
  return spreads;
}

/// Weights, and the BLEU of what they choose.
struct Place {
  std::vector<double> weights;
  double bleu;
};

class Search {
 public:
  Search(const Candidates& candidates, std::size_t features, const MertOptions& options,
         const std::function<void()>& check_stop)
      : candidates_(candidates),
        options_(options),
        check_stop_(check_stop),
        spreads_(spreads_of(candidates, features)),
        random_(options.seed) {}

  std::size_t line_searches() const { return line_searches_; }

  Place at(std::vector<double> weights) const {
    const double bleu = bleu_at(candidates_, weights, options_.bleu);
    return {std::move(weights), bleu};
  }

  /// Uniform in [-1, 1] divided by the spread; features that decide nothing have `other`.
  std::vector<double> random_vector(std::span<const double> other) {
    std::vector<double> vector(other.begin(), other.end());
    for (std::size_t k = 0; k < vector.size(); ++k) {
      if (spreads_[k] > 0) vector[k] = (2 * random_.uniform() - 1) / spreads_[k];
    }
    return vector;
  }

  /// Rounds of line searches until one gains nothing.
  Place climb(Place place) {
    const std::vector<double> nothing(spreads_.size());
    for (std::size_t round = 0; round < kRounds; ++round) {
      const double before = place.bleu;
      for (std::size_t k = 0; k < spreads_.size(); ++k) {
        if (spreads_[k] == 0) continue;
        auto axis = nothing;
        axis[k] = 1 / spreads_[k];
        improve(place, axis);
      }
      for (std::size_t i = 0; i < options_.random_directions; ++i) improve(place, random_vector(nothing));
      if (!(place.bleu > before)) break;
    }
    return place;
  }

 private:
  /// Moves to the step with the largest BLEU, the first of several, if that is better.
  void improve(Place& place, std::span<const double> direction) {
    if (check_stop_) check_stop_();
    ++line_searches_;
    const std::vector<Step> steps = steps_along(candidates_, place.weights, direction);
    double best = place.bleu, gamma = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const double from = steps[i].from, to = i + 1 < steps.size() ? steps[i + 1].from : kInfinity;
      const bool ends = std::isfinite(from) && std::isfinite(to);
      if (ends && to - from <= kNarrow * std::max(std::abs(from), std::abs(to))) continue;
      const double bleu = bleu_of(steps[i].statistics, options_.bleu).score;
      if (!(bleu > best)) continue;
      best = bleu;
      gamma = inside(from, to);
    }
    if (gamma == 0) return;
    Place there = at(moved(place.weights, gamma, direction));
    if (there.bleu > place.bleu) place = std::move(there);
  }

  const Candidates& candidates_;
  const MertOptions& options_;
  const std::function<void()>& check_stop_;
  std::vector<double> spreads_;
  Random random_;
  std::size_t line_searches_ = 0;
};

}  // namespace

BleuStatistics statistics_of_best(const Candidates& candidates, std::span<const double> weights) {
  std::vector<std::size_t> chosen(candidates.size());
  for_every_line(candidates.size(), [&](std::size_t i) {
    double best = -kInfinity;
    for (std::size_t k = 0; k < candidates[i].size(); ++k) {
      const double sum = weighted_sum(candidates[i][k].features, weights);
      if (!(sum > best)) continue;
      best = sum;
      chosen[i] = k;
    }
  });
  BleuStatistics sum;
  for (std::size_t i = 0; i < candidates.size(); ++i) sum += candidates[i][chosen[i]].statistics;
  return sum;
}

std::vector<Step> steps_along(const Candidates& candidates, std::span<const double> weights,
                              std::span<const double> direction) {
  std::vector<std::vector<Corner>> envelopes(candidates.size());
  for_every_line(candidates.size(), [&](std::size_t i) {
    std::vector<ScoreLine> lines;
    for (std::size_t k = 0; k < candidates[i].size(); ++k) {
      const auto& features = candidates[i][k].features;
      lines.push_back({weighted_sum(features, direction), weighted_sum(features, weights), k});
    }
    envelopes[i] = upper_envelope(std::move(lines));
  });

  struct Change {
    double gamma;
    const BleuStatistics *leaves, *enters;
  };
  std::vector<Change> changes;
  Step step{-kInfinity, {}};
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    step.statistics += candidates[i][envelopes[i].front().number].statistics;
    for (std::size_t c = 1; c < envelopes[i].size(); ++c) {
      changes.push_back({envelopes[i][c].gamma, &candidates[i][envelopes[i][c - 1].number].statistics,
                         &candidates[i][envelopes[i][c].number].statistics});
    }
  }
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.gamma < b.gamma; });
  std::vector<Step> steps;
  for (const Change& change : changes) {
    if (change.gamma != step.from) steps.push_back(step);
    step.from = change.gamma;
    subtract(step.statistics, *change.leaves);
    step.statistics += *change.enters;
  }
  steps.push_back(step);
  return steps;
}

MertResult tune(const Candidates& candidates, std::span<const double> start, const MertOptions& options,
                const std::function<void()>& check_stop) {
  Search search(candidates, start.size(), options, check_stop);
  const Place first = search.at({start.begin(), start.end()});
  Place best = search.climb(first);
  for (std::size_t i = 0; i < options.restarts; ++i) {
    Place end = search.climb(search.at(search.random_vector(start)));
    if (end.bleu > best.bleu) best = std::move(end);
  }
  double magnitude = 0;
  for (const double weight : best.weights) magnitude += std::abs(weight);
  if (magnitude > 0) {
    // Their scale changes no ranking, up to rounding between hypotheses that are all but equal.
    auto weights = best.weights;
    for (double& weight : weights) weight /= magnitude;
    Place scaled = search.at(std::move(weights));
    if (scaled.bleu >= best.bleu) best = std::move(scaled);
  }
  return {std::move(best.weights), best.bleu, first.bleu, search.line_searches()};
}

}  // namespace rnnsearch::evaluate

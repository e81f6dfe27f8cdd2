#include "rnnsearch/report/points.h"

#include <algorithm>
#include <utility>

namespace rnnsearch::report {

std::vector<Point> thinned(std::span<const Point> points, std::size_t at_most) {
  const std::size_t n = points.size();
  if (n <= at_most || at_most < 4) return {points.begin(), points.end()};
  const std::size_t inner = n - 2, stretches = (at_most - 2) / 2;
  std::vector<Point> kept{points.front()};
  for (std::size_t k = 0; k < stretches; ++k) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(1 + inner * k / stretches);
    const auto end = points.begin() + static_cast<std::ptrdiff_t>(1 + inner * (k + 1) / stretches);
    auto [least, most] = std::minmax_element(begin, end, [](const Point& a, const Point& b) { return a.y < b.y; });
    if (most < least) std::swap(least, most);
    kept.push_back(*least);
    if (most != least) kept.push_back(*most);
  }
  kept.push_back(points.back());
  return kept;
}

std::vector<Point> smoothed(std::span<const Point> points, std::size_t window) {
  std::vector<Point> result;
  const std::size_t half = window / 2, n = points.size();
  // Each window is composed of sums of 1, 2, 4, ... neighbours, because the windows of a long log are long. Nothing is
  // subtracted, so a spike does not cost digits of distant values.
  std::vector<std::vector<double>> sums(1);
  for (const Point& point : points) sums[0].push_back(point.y);
  while (sums.back().size() > 1) {
    const std::vector<double>& finer = sums.back();
    std::vector<double> pairs;
    for (std::size_t i = 0; i + 1 < finer.size(); i += 2) pairs.push_back(finer[i] + finer[i + 1]);
    sums.push_back(std::move(pairs));
  }
  for (std::size_t i = 0; i < n; ++i) {
    // At its start a curve is steep, so a one-sided mean would be biased; at its end it is noisy.
    const std::size_t before = std::min(half, i), after = std::min(before, n - 1 - i);
    double sum = 0;
    std::size_t begin = i - before, end = i + after + 1;
    for (std::size_t level = 0; begin < end; ++level, begin /= 2, end /= 2) {
      if (begin % 2 == 1) sum += sums[level][begin++];
      if (end % 2 == 1) sum += sums[level][--end];
    }
    result.push_back({points[i].x, sum / static_cast<double>(before + after + 1)});
  }
  return result;
}

}  // namespace rnnsearch::report

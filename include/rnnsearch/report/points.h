// The points of a curve, and what is left of them when there are too many to draw or to see through.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace rnnsearch::report {

struct Point {
  double x = 0, y = 0;
  std::optional<double> low = std::nullopt, high = std::nullopt;  // ends of the interval
  bool hollow = false;                                            // drawn hollow, because the value is unreliable
};

/// At most `at_most` of the points, in order: the first, the last, and the points with the least and the greatest y of
/// each stretch between them, so that no peak is lost. REQUIRES: at_most >= 4.
std::vector<Point> thinned(std::span<const Point> points, std::size_t at_most);
/// Moving averages over up to `window` neighbours (an odd number). Near the start, the window is symmetric and smaller;
/// near the end, it uses the points that exist.
std::vector<Point> smoothed(std::span<const Point> points, std::size_t window);

}  // namespace rnnsearch::report

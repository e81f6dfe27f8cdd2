// The axes of a chart: what they show, the numbers on them, and places between their ends. And the points of a curve,
// with what is left of them when there are too many to draw or to see through.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rnnsearch::report {

enum class Scale { kLinear, kLog };

struct Axis {
  std::string name;  // such as "update", "BLEU" or "hours", including a unit
  Scale scale = Scale::kLinear;
  bool from_zero = false;  // start a linear axis at zero
  /// For a horizontal axis with labels: the x of the points is 0, 1, 2 ..., and each place has a label and a note
  /// below.
  std::vector<std::string> labels{};
  std::vector<std::string> notes{};
  std::string notes_name{};  // what the notes mean, such as "sentences"
};

/// The ends of an axis, or of the values that it shows; without a value, low is greater than high.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  /// Extends the range to this value.
  void see(double value);
};

/// Whether a value has a place on an axis: it is finite and not huge and, on a log scale, positive.
bool drawable_on(double value, Scale scale);
/// Round ends of an axis that enclose the values of `range`, with at most `ticks` ticks between them on a linear scale.
Range rounded(Range range, const Axis& axis, std::size_t ticks);

/// Multiples of 1, 2 or 5 times a power of ten in [low, high]: as many as possible, but at most `at_most`. One number
/// if low == high. REQUIRES: at_most >= 2.
std::vector<double> nice_ticks(double low, double high, std::size_t at_most);
/// Powers of ten in [low, high]. If there are fewer than three, also 2 and 5 times these; if there are more than
/// `at_most`, only every second, third, ... power. REQUIRES: low > 0.
std::vector<double> log_ticks(double low, double high, std::size_t at_most);
/// Those of the scale.
std::vector<double> ticks_of(Range range, Scale scale, std::size_t at_most);
/// The label of a tick, with just enough decimals to distinguish it from its neighbours: 0.5, 1.0, 1.5; 20,000; 2M;
/// 5e-5.
std::string tick_label(double tick, std::span<const double> ticks);

/// The position of `value` between `low` (0) and `high` (1).
double position(double value, double low, double high, Scale scale);

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

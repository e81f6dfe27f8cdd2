// Line charts as SVG for the page: page.css defines colours and fonts, and page.js reads out the numbers.
#pragma once

#include <cstddef>
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

struct Point {
  double x = 0, y = 0;
  std::optional<double> low = std::nullopt, high = std::nullopt;  // ends of the interval
  bool hollow = false;                                            // drawn hollow, because the value is unreliable
};

struct Line {
  std::string name;
  std::size_t style = 0;  // colour, dashes and marker; equal for equal names on the whole page
  std::vector<Point> points{};
  bool faint = false;  // drawn behind the other lines, without markers and read-out
};

struct LineChart {
  std::string title;
  Axis x, y;
  std::vector<Line> lines{};
  std::optional<int> decimals{};  // decimals of the numbers that are read out; if empty, four significant digits
};

/// The number of colours. Further styles reuse the colours with different dashes and markers.
inline constexpr std::size_t kColours = 6;
/// The maximum number of points that are drawn for a line.
inline constexpr std::size_t kDrawnPoints = 600;

/// Multiples of 1, 2 or 5 times a power of ten in [low, high]: as many as possible, but at most `at_most`. One number
/// if low == high. REQUIRES: at_most >= 2.
std::vector<double> nice_ticks(double low, double high, std::size_t at_most);
/// Powers of ten in [low, high]. If there are fewer than three, also 2 and 5 times these; if there are more than
/// `at_most`, only every second, third, ... power. REQUIRES: low > 0.
std::vector<double> log_ticks(double low, double high, std::size_t at_most);
/// The label of a tick, with just enough decimals to distinguish it from its neighbours: 0.5, 1.0, 1.5; 20,000; 2M;
/// 5e-5.
std::string tick_label(double tick, std::span<const double> ticks);

/// The position of `value` between `low` (0) and `high` (1).
double position(double value, double low, double high, Scale scale);

/// At most `at_most` of the points, in order: the first, the last, and the points with the least and the greatest y of
/// each stretch between them, so that no peak is lost. REQUIRES: at_most >= 4.
std::vector<Point> thinned(std::span<const Point> points, std::size_t at_most);
/// Moving averages over up to `window` neighbours (an odd number). Near the start, the window is symmetric and smaller;
/// near the end, it uses the points that exist.
std::vector<Point> smoothed(std::span<const Point> points, std::size_t window);

/// Draws a chart. Points that cannot be drawn (not finite, or not positive on a log scale) are left out. Throws Error
/// if there are fewer labels than places of points. Thread-safe.
std::string svg_of(const LineChart& chart);

/// The key of a line for the legend: a short piece of the line with its marker.
std::string key_svg(std::size_t style);

/// A part of a whole in a bar such as "compute" 93 %, "communication" 5 %. Parts differ by patterns as well as colours.
struct Part {
  std::string name;
  double share = 0;  // from 0 to 1
};
std::string bar_svg(const std::string& title, std::span<const Part> parts);

}  // namespace rnnsearch::report

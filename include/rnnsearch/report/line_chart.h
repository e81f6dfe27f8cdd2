// Lines over two axes, as SVG for the page: its colours and fonts are those of page.css, its numbers those that the
// page's script reads out.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rnnsearch::report {

enum class Scale { kLinear, kLog };

struct Axis {
  std::string name;  // "update", "BLEU"; with its unit where it has one: "hours"
  Scale scale = Scale::kLinear;
  bool from_zero = false;  // linear only
  /// Of a horizontal axis: then the points' x is 0, 1, 2 ... and each place has its label and a note below it.
  std::vector<std::string> labels{};
  std::vector<std::string> notes{};
  std::string notes_name{};  // what the notes are: "sentences"
};

struct Point {
  double x = 0, y = 0;
  std::optional<double> low = std::nullopt, high = std::nullopt;  // of an interval
  bool hollow = false;                                            // not to be trusted
};

struct Line {
  std::string name;
  std::size_t style = 0;  // colour, dashes and marker; the same for the same name all over the page
  std::vector<Point> points{};
  bool faint = false;  // drawn behind the others, without markers and read-out
};

struct LineChart {
  std::string title;
  Axis x, y;
  std::vector<Line> lines{};
  std::optional<int> decimals{};  // of the numbers that are read out; nothing: four digits that count
};

/// Colours, dashes and markers there are; a further style begins anew with the colours, but not with the same dashes.
inline constexpr std::size_t kColours = 6;
/// Points of a line that are drawn at most.
inline constexpr std::size_t kDrawnPoints = 600;

/// Multiples of 1, 2 or 5 times a power of ten from `low` to `high`, both included: as many as fit, at most `at_most`
/// (2 or more). One number when low == high.
std::vector<double> nice_ticks(double low, double high, std::size_t at_most);
/// Powers of ten from `low` to `high` (both above 0); where there are fewer than three of them, also 2 and 5 times
/// those; every second, third ... power when there are more than `at_most`.
std::vector<double> log_ticks(double low, double high, std::size_t at_most);
/// The tick's number with just the decimals that tell it from its neighbours: 0.5, 1.0, 1.5; 20,000; 2M; 5e-5.
std::string tick_label(double tick, std::span<const double> ticks);

/// Where `value` lies between `low` (0) and `high` (1).
double position(double value, double low, double high, Scale scale);

/// At most `at_most` (4 or more) of the points, in order: first, last, and of each stretch between the least and the
/// greatest y, so that no peak is lost.
std::vector<Point> thinned(std::span<const Point> points, std::size_t at_most);
/// Means over up to `window` neighbours (odd), at each point; fewer at both ends: as many on both sides where the line
/// begins, those there are where it ends.
std::vector<Point> smoothed(std::span<const Point> points, std::size_t window);

/// Points that cannot be drawn (not finite; not above 0 on a log scale) are left out. Throws Error when the labels are
/// too few for the points. Any thread.
std::string svg_of(const LineChart& chart);

/// A line's key for the legend: a short piece of it with its marker.
std::string key_svg(std::size_t style);

/// Parts of a whole as one bar: "compute" 93 %, "communication" 5 % ... The parts' patterns tell them apart besides
/// their colours.
struct Part {
  std::string name;
  double share = 0;  // of 1
};
std::string bar_svg(const std::string& title, std::span<const Part> parts);

}  // namespace rnnsearch::report

// Line charts as SVG: for the page, whose page.css defines colours and fonts and whose page.js reads out the numbers,
// and as stand-alone files, for example for a README.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pugi {
class xml_node;
}

namespace rnnsearch::report {

// The axes of a chart: what they show, the numbers on them, and places between their ends. And the points of a curve,
// with what is left of them when there are too many to draw or to see through.

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

// The chart.

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

/// Adds the drawing of a chart and returns its SVG. Points that cannot be drawn (not finite, or not positive on a log
/// scale) are left out. Thread-safe. REQUIRES: a label for each place of a point, if there are labels.
pugi::xml_node add_chart(pugi::xml_node parent, const LineChart& chart);

/// Adds the key of a line for the legend: a short piece of the line with its marker.
void add_key(pugi::xml_node parent, std::size_t style);

/// A part of a whole in a bar such as "compute" 93 %, "communication" 5 %. Parts differ by patterns as well as colours.
struct Part {
  std::string name;
  double share = 0;  // from 0 to 1
};
void add_bar(pugi::xml_node parent, const std::string& title, std::span<const Part> parts);

/// Reads tab-separated values: a header with the name of the horizontal axis and the name of each line, then a row for
/// each place on the axis, in order, with the label of the place and the value of each line. An empty or missing field
/// is an unknown point. Lines that begin with # are comments. The places are equally spaced. Throws Error, naming file
/// and line, for a header without lines, a repeated name, a row without a label or with too many fields, an invalid
/// number, and a file without rows.
LineChart read_chart(const std::filesystem::path& path);

/// Returns an SVG file with the title of the chart, its legend, and colours for a light background. It needs no style
/// sheet.
std::string svg_file_of(const LineChart& chart);

}  // namespace rnnsearch::report

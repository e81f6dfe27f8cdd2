// Line charts as SVG: for the page, whose page.css defines colours and fonts and whose page.js reads out the numbers, and
// as stand-alone files, for example for a README.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/report/axis.h"

namespace pugi {
class xml_node;
}

namespace rnnsearch::report {

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
/// scale) are left out. Thread-safe. REQUIRES: a label for
/// each place of a point, if there are labels.
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

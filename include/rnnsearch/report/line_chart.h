// Line charts as SVG for the page: page.css defines colours and fonts, and page.js reads out the numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/report/axis.h"
#include "rnnsearch/report/points.h"

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
/// scale) are left out. Throws Error if there are fewer labels than places of points. Thread-safe.
pugi::xml_node add_chart(pugi::xml_node parent, const LineChart& chart);

/// Adds the key of a line for the legend: a short piece of the line with its marker.
void add_key(pugi::xml_node parent, std::size_t style);

/// A part of a whole in a bar such as "compute" 93 %, "communication" 5 %. Parts differ by patterns as well as colours.
struct Part {
  std::string name;
  double share = 0;  // from 0 to 1
};
void add_bar(pugi::xml_node parent, const std::string& title, std::span<const Part> parts);

}  // namespace rnnsearch::report

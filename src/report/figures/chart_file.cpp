#include "rnnsearch/report/line_chart.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <pugixml.hpp>
#include <sstream>

#include "report/html.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/line_source.h"

namespace rnnsearch::report {
namespace {

// The colours of page.css for a light page. There is no read-out.
constexpr const char* kStyle =
    "text{font:13px system-ui,'Segoe UI','Liberation Sans','DejaVu Sans',sans-serif;fill:#4f5a64}"
    "text.title{font-size:14px;font-weight:600;fill:#1d2329}.at{display:none}"
    ".grid line{stroke:#dfe3e6}.axis line{stroke:#8d979f}"
    ".s0{--c:#0068a8}.s1{--c:#c4500a}.s2{--c:#007a58}.s3{--c:#a2407d}.s4{--c:#846300}.s5{--c:#40474d}"
    ".stroke{fill:none;stroke:var(--c);stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}"
    ".marker{fill:var(--c);stroke:#fff;stroke-width:1}.band{fill:var(--c);opacity:.11}"
    ".whiskers{fill:none;stroke:var(--c);opacity:.75}";
constexpr double kMargin = 10, kTitle = 26, kKeyWidth = 40, kRow = 20, kFont = 13;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  return fields;
}

}  // namespace

LineChart read_chart(const std::filesystem::path& path) {
  std::istringstream file(read_text_file(path));
  LineChart chart;
  std::size_t number = 0;
  const auto fail = [&](const std::string& what) {
    throw Error(
        "report: {}, line {}: {}; a chart is a table of tab-separated values, with a header of names and a row for "
        "each position on the axis",
        path, number, what);
  };
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string> fields = fields_of(line);
    if (chart.lines.empty()) {
      if (fields.size() < 2) fail("the header names no line besides the axis");
      chart.x.name = fields[0];
      for (std::size_t i = 1; i < fields.size(); ++i) {
        if (std::count(fields.begin() + 1, fields.end(), fields[i]) > 1)
          fail("two lines are named '" + fields[i] + "'");
        chart.lines.push_back({.name = fields[i], .style = i - 1});
      }
      continue;
    }
    if (fields[0].empty()) fail("the row has no position on the axis, because its first field is empty");
    if (fields.size() > chart.lines.size() + 1)
      fail(fmt::format("the row has {} fields, but the header has {}", fields.size(), chart.lines.size() + 1));
    const auto place = static_cast<double>(chart.x.labels.size());
    chart.x.labels.push_back(fields[0]);
    for (std::size_t i = 1; i < fields.size(); ++i) {
      if (fields[i].empty()) continue;
      double value = 0;
      const char* const end = fields[i].data() + fields[i].size();
      if (const auto read = std::from_chars(fields[i].data(), end, value);
          read.ec != std::errc() || read.ptr != end || !std::isfinite(value)) {
        fail("'" + fields[i] + "' is not a number");
      }
      chart.lines[i - 1].points.push_back({place, value});
    }
  }
  if (chart.x.labels.empty()) fail("there is no row");
  return chart;
}

std::string svg_file_of(const LineChart& chart) {
  return svg_file([&](pugi::xml_node parent) {
    const auto root = add(parent, "svg", {{"role", "img"}, {"aria-label", chart.title}});
    add(root, "style", {}, kStyle);
    add(root, "rect", {{"width", "100%"}, {"height", "100%"}, {"fill", "#ffffff"}});
    add(root, "text", {{"class", "title"}, {"x", kMargin}, {"y", kTitle - 6}}, chart.title);
    auto drawing = add_chart(root, chart);
    const double width = drawing.attribute("width").as_double(), height = drawing.attribute("height").as_double();
    // The legend: the names follow each other in as many rows as they need.
    double x = kMargin, y = kTitle + kMargin;
    for (const Line& line : chart.lines) {
      if (line.faint || line.points.empty()) continue;
      const double wide = kKeyWidth + kFont * width_of(std::string_view(drawable(line.name))) + 12;
      if (x > kMargin && x + wide > width + kMargin) x = kMargin, y += kRow;
      const auto key = add(root, "g", {{"transform", fmt::format("translate({} {})", coordinate(x), coordinate(y))}});
      add_key(key, line.style);
      add(key, "text", {{"x", kKeyWidth}, {"y", "12"}}, line.name);
      x += wide;
    }
    drawing.remove_attribute("role");
    set(drawing, "x", coordinate(kMargin));
    set(drawing, "y", coordinate(y + kRow));
    const double full_width = width + 2 * kMargin, full_height = y + kRow + height + kMargin;
    set(root, "viewBox", fmt::format("0 0 {} {}", coordinate(full_width), coordinate(full_height)));
    set(root, "width", coordinate(1.5 * full_width));
  });
}

}  // namespace rnnsearch::report

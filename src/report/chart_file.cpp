#include "rnnsearch/report/chart_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <pugixml.hpp>
#include <sstream>

#include "report/figure.h"
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
  pugi::xml_document plot;
  plot.load_string(svg_of(chart).c_str());
  pugi::xml_node drawing = plot.first_child();
  std::istringstream box(drawing.attribute("viewBox").value());
  double left = 0, top = 0, width = 0, height = 0;
  box >> left >> top >> width >> height;

  // The legend: the names follow each other in as many rows as they need.
  struct Key {
    const Line* line;
    double x, y;
  };
  std::vector<Key> keys;
  double x = kMargin, y = kTitle + kMargin;
  for (const Line& line : chart.lines) {
    if (line.faint || line.points.empty()) continue;
    const double wide = kKeyWidth + kFont * width_of(std::string_view(drawable(line.name))) + 12;
    if (x > kMargin && x + wide > width + kMargin) x = kMargin, y += kRow;
    keys.push_back({&line, x, y});
    x += wide;
  }
  const double below = y + kRow;

  pugi::xml_document document;
  auto root =
      add(document, "svg",
          {{"xmlns", "http://www.w3.org/2000/svg"},
           {"viewBox", fmt::format("0 0 {} {}", coordinate(width + 2 * kMargin), coordinate(below + height + kMargin))},
           {"width", coordinate(1.5 * (width + 2 * kMargin))},
           {"role", "img"},
           {"aria-label", chart.title}});
  add(root, "style", {}, kStyle);
  add(root, "rect", {{"width", "100%"}, {"height", "100%"}, {"fill", "#ffffff"}});
  add(root, "text", {{"class", "title"}, {"x", coordinate(kMargin)}, {"y", coordinate(kTitle - 6)}}, chart.title);
  for (const Key& key : keys) {
    auto group = add(root, "g", {{"transform", fmt::format("translate({} {})", coordinate(key.x), coordinate(key.y))}});
    pugi::xml_document sample;
    sample.load_string(key_svg(key.line->style).c_str());
    group.append_copy(sample.first_child());
    add(group, "text", {{"x", coordinate(kKeyWidth)}, {"y", "12"}}, key.line->name);
  }
  drawing.remove_attribute("role");
  for (const auto& [name, value] : {std::pair{"x", kMargin}, {"y", below}, {"width", width}, {"height", height}}) {
    set(drawing, name, coordinate(value));
  }
  root.append_copy(drawing);
  std::ostringstream stream;
  document.save(stream, "", pugi::format_raw | pugi::format_no_declaration, pugi::encoding_utf8);
  return std::move(stream).str() + "\n";
}

}  // namespace rnnsearch::report

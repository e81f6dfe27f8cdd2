#include "rnnsearch/report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <sstream>

#include "report/html.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/report/table.h"

namespace rnnsearch::report {
namespace {

// In units of the drawing, which are pixels if the page is wide enough.
constexpr double kWidth = 480, kRight = 12, kTop = 26, kPlotHeight = 214;
constexpr double kLetter = 7.4;          // upper bound of the width of a digit in the font of the page at 13 units
constexpr double kTickLine = 19;         // from the axis to the middle of its labels
constexpr double kDodge = 5;             // between the intervals of neighbouring lines
constexpr std::size_t kManyPoints = 48;  // lines with more points do not have a marker at each point
constexpr std::size_t kFewMarkers = 7;   // the number of markers on such lines

constexpr std::array kDashes{"", "7 4", "2 3", "10 3 2 3", "14 4", "4 2 1 2"};

const char* dashes_of(std::size_t style) {
  // Shifts the dashes by one each time the colours repeat.
  return kDashes[(style + style / kColours) % kDashes.size()];
}

std::string class_of(std::size_t style) { return fmt::format("s{}", style % kColours); }

std::string marker_path(std::size_t style, double x, double y) {
  struct Marker {
    double x, y;  // where it begins
    const char* path;
  };
  constexpr std::array<Marker, 6> kMarkers{{{-4, 0, "a4 4 0 1 1 8 0a4 4 0 1 1 -8 0z"},
                                            {-3.6, -3.6, "h7.2v7.2h-7.2z"},
                                            {0, -4.6, "l4.4 8h-8.8z"},
                                            {0, -5.2, "l5.2 5.2l-5.2 5.2l-5.2 -5.2z"},
                                            {0, 4.6, "l4.4 -8h-8.8z"},
                                            {-4.8, -1.8, "h3v-3h3.6v3h3v3.6h-3v3h-3.6v-3h-3z"}}};
  // The markers shift, too, when the colours repeat.
  const Marker& marker = kMarkers[(style + 2 * (style / kColours)) % kMarkers.size()];
  return fmt::format("M{} {}{}", coordinate(x + marker.x), coordinate(y + marker.y), marker.path);
}

std::size_t longest_label(const std::vector<double>& ticks) {
  std::size_t letters = 1;
  for (const double tick : ticks) letters = std::max(letters, tick_label(tick, ticks).size());
  return letters;
}

// The numbers of a line as the value of an attribute.
std::string list_of(const std::vector<Point>& points, const auto& number) {
  std::string list;
  for (const Point& point : points) list.append(list.empty() ? "" : " ").append(number(point));
  return list;
}

class Drawing {
 public:
  explicit Drawing(const LineChart& chart) : chart_(chart) {
    for (const Line& line : chart.lines) {
      Line kept = line;
      std::erase_if(kept.points, [&](const Point& p) {
        return !drawable_on(p.x, chart.x.scale) || !drawable_on(p.y, chart.y.scale);
      });
      kept.points = thinned(kept.points, kDrawnPoints);
      if (!kept.points.empty()) lines_.push_back(std::move(kept));
    }
    // Faint lines come first, so that they are behind the others.
    std::ranges::stable_sort(lines_, std::greater{}, &Line::faint);
    for (const Line& line : lines_) {
      for (const Point& point : line.points) {
        x_.see(point.x);
        y_.see(point.y);
        if (!point.low || !point.high) continue;
        if (drawable_on(*point.low, chart.y.scale)) y_.see(*point.low);
        if (drawable_on(*point.high, chart.y.scale)) y_.see(*point.high);
      }
    }
    if (labelled()) {
      assert(x_.low > x_.high || (x_.low >= 0 && x_.high < static_cast<double>(chart.x.labels.size())));
      x_ = {-0.5, static_cast<double>(chart.x.labels.size()) - 0.5};
    } else if (x_.low > x_.high) {
      x_ = {0, 1};
    } else if (chart.x.scale == Scale::kLinear) {
      if (chart.x.from_zero) x_.see(0);
      if (x_.low == x_.high) x_ = {x_.low - 1, x_.high + 1};
    } else if (x_.low == x_.high) {
      x_ = {x_.low / 2, x_.high * 2};
    }
    y_ = rounded(y_, chart.y, 6);
    y_ticks_ = ticks_of(y_, chart.y.scale, 6);
    left_ = 14 + kLetter * static_cast<double>(longest_label(y_ticks_));
    height_ = kTop + kPlotHeight + kTickLine + 8 + (chart.x.notes.empty() ? 0 : 18) + 20;
  }

  pugi::xml_node add_to(pugi::xml_node parent) {
    root_ = add_svg(parent, "chart-drawing", kWidth, height_, chart_.title);
    add(root_, "desc", {}, description());
    for (const Attribute& place : {Attribute{"data-left", left_},
                                   {"data-right", kWidth - kRight},
                                   {"data-top", kTop},
                                   {"data-bottom", kTop + kPlotHeight}}) {
      set(root_, place.name, place.value);
    }
    const auto exact = [](double value) { return json_text(Json(value)); };
    set(root_, "data-x-low", exact(x_.low));
    set(root_, "data-x-high", exact(x_.high));
    set(root_, "data-y-low", exact(y_.low));
    set(root_, "data-y-high", exact(y_.high));
    set(root_, "data-x-scale", chart_.x.scale == Scale::kLog ? "log" : "linear");
    set(root_, "data-y-scale", chart_.y.scale == Scale::kLog ? "log" : "linear");
    set(root_, "data-x-name", chart_.x.name);
    if (labelled()) set(root_, "data-x-labels", json_text(chart_.x.labels));
    draw_axes();
    for (std::size_t i = 0; i < lines_.size(); ++i) draw(lines_[i], i);
    return root_;
  }

 private:
  bool labelled() const { return !chart_.x.labels.empty(); }
  double across(double x) const {
    return left_ + position(x, x_.low, x_.high, chart_.x.scale) * (kWidth - kRight - left_);
  }
  double down(double y) const { return kTop + (1 - position(y, y_.low, y_.high, chart_.y.scale)) * kPlotHeight; }

  static pugi::xml_node label(pugi::xml_node parent, double x, double y, const char* anchor, const std::string& text) {
    return add_label(parent, x, y, 13, anchor, text);
  }

  void draw_axes() {
    const double bottom = kTop + kPlotHeight, right = kWidth - kRight;
    const auto grid = add(root_, "g", {{"class", "grid"}});
    const auto numbers = add(root_, "g", {{"class", "ticks"}});
    for (const double tick : y_ticks_) {
      add(grid, "line", {{"x1", left_}, {"x2", right}, {"y1", down(tick)}, {"y2", down(tick)}});
      label(numbers, left_ - 7, down(tick), "end", tick_label(tick, y_ticks_));
    }
    const auto axes = add(root_, "g", {{"class", "axis"}});
    add(axes, "line", {{"x1", left_}, {"x2", right}, {"y1", bottom}, {"y2", bottom}});
    const auto mark = [&](double x) { add(axes, "line", {{"x1", x}, {"x2", x}, {"y1", bottom}, {"y2", bottom + 5}}); };
    double below = bottom + kTickLine;
    if (labelled()) {
      std::size_t longest = 1;
      for (const auto* texts : {&chart_.x.labels, &chart_.x.notes}) {
        for (const std::string& text : *texts) longest = std::max(longest, text.size());
      }
      const double place = (right - left_) / static_cast<double>(chart_.x.labels.size());
      const auto every = static_cast<std::size_t>(std::ceil((static_cast<double>(longest) * kLetter + 4) / place));
      for (std::size_t i = 0; i < chart_.x.labels.size(); ++i) {
        const double x = across(static_cast<double>(i));
        mark(x);
        if (i % every != 0) continue;
        label(numbers, x, below, "middle", chart_.x.labels[i]);
        if (i < chart_.x.notes.size()) set(label(numbers, x, below + 18, "middle", chart_.x.notes[i]), "class", "note");
      }
    } else {
      std::size_t most = 7;
      std::vector<double> ticks;
      do {  // fewer ticks if the numbers are long
        ticks = ticks_of(x_, chart_.x.scale, most);
        if (static_cast<double>(ticks.size() * (longest_label(ticks) + 2)) * kLetter <= right - left_) break;
      } while (--most >= 2);
      for (const double tick : ticks) {
        mark(across(tick));
        const std::string text = tick_label(tick, ticks);
        // The label must not exceed the edge of the drawing.
        const double half = static_cast<double>(text.size()) * kLetter / 2;
        label(numbers, std::min(across(tick), kWidth - half), below, "middle", text);
      }
    }
    if (!chart_.x.notes.empty()) below += 18;
    set(label(numbers, 2, 9, "start", chart_.y.name), "class", "axis-name");
    const std::string name =
        chart_.x.notes_name.empty() ? chart_.x.name : fmt::format("{} / {}", chart_.x.name, chart_.x.notes_name);
    set(label(numbers, right, below + 20, "end", name), "class", "axis-name");
  }

  std::string told(const Point& point) const {
    std::string text = labelled() ? chart_.x.labels[static_cast<std::size_t>(point.x)]
                                  : fmt::format("{} {}", chart_.x.name, x_text(point));
    text += ": " + y_text(point.y);
    if (point.low && point.high) text += fmt::format(" [{}, {}]", y_text(*point.low), y_text(*point.high));
    if (point.hollow) text += ", few sentences";
    return text;
  }
  std::string y_text(double y) const { return chart_.decimals ? fixed(y, *chart_.decimals) : significant(y, 4); }
  static std::string x_text(const Point& point) {
    return point.x == std::floor(point.x) && point.x >= 0 && point.x < 1e15
               ? grouped(static_cast<std::uint64_t>(point.x))
               : significant(point.x, 4);
  }

  void draw(const Line& line, std::size_t index) {
    auto group = add(root_, "g",
                     {{"class", fmt::format("{}{}", line.faint ? "line faint " : "line ", class_of(line.style))},
                      {"data-name", line.name}});
    double shift = 0;  // draws intervals beside each other, so that they do not overlap
    const bool intervals = std::ranges::any_of(line.points, [](const Point& p) { return p.low && p.high; });
    if (intervals && labelled())
      shift = (static_cast<double>(index) - static_cast<double>(lines_.size() - 1) / 2) * kDodge;
    if (shift != 0) set(group, "data-shift", coordinate(shift));
    if (!line.faint) {
      const auto set_list = [&](const char* name, const auto& number) {
        set(group, name, list_of(line.points, number));
      };
      set_list("data-x", [&](const Point& p) { return labelled() ? coordinate(p.x) : json_text(Json(p.x)); });
      set_list("data-x-text", [&](const Point& p) { return labelled() ? coordinate(p.x) : x_text(p); });
      set_list("data-y", [&](const Point& p) { return coordinate(down(p.y)); });
      set_list("data-y-text", [&](const Point& p) { return y_text(p.y); });
      const auto end = [&](const std::optional<double>& value) { return value ? y_text(*value) : std::string("-"); };
      if (intervals) set_list("data-low", [&](const Point& p) { return end(p.low); });
      if (intervals) set_list("data-high", [&](const Point& p) { return end(p.high); });
    }
    if (intervals) {
      std::string there, back;
      const auto whiskers = add(group, "path", {{"class", "whiskers"}});
      std::string strokes;
      for (const Point& p : line.points) {
        if (!p.low || !p.high) continue;
        const std::string x = coordinate(across(p.x) + shift), low = coordinate(down(*p.low)),
                          high = coordinate(down(*p.high));
        there += fmt::format("{}{} {}", there.empty() ? "M" : "L", x, high);
        back = fmt::format("L{} {}{}", x, low, back);
        strokes += fmt::format("M{0} {1}V{2}m-3 0h6M{0} {1}m-3 0h6", x, low, high);
      }
      set(whiskers, "d", strokes);
      pugi::xml_node band = group.insert_child_before("path", whiskers);
      set(band, "class", "band");
      set(band, "d", there + back + "z");
    }
    std::string path;
    for (const Point& p : line.points)
      path += fmt::format("{}{} {}", path.empty() ? "M" : "L", coordinate(across(p.x) + shift), coordinate(down(p.y)));
    auto stroke = add(group, "path", {{"class", "stroke"}, {"d", path}});
    if (*dashes_of(line.style) != '\0' && !line.faint) set(stroke, "stroke-dasharray", dashes_of(line.style));
    if (line.faint) return;
    const std::size_t n = line.points.size();
    for (std::size_t i = 0; i < n; ++i) {
      // If there are many points, only a few get markers, at different places in each line, and the last one.
      const std::size_t stretch = std::max<std::size_t>(1, n / kFewMarkers);
      if (n > kManyPoints && i + 1 != n && i % stretch != (line.style % kColours + 1) * stretch / (kColours + 1))
        continue;
      const Point& p = line.points[i];
      const auto marker = add(group, "path",
                              {{"class", p.hollow ? "marker hollow" : "marker"},
                               {"d", marker_path(line.style, across(p.x) + shift, down(p.y))}});
      add(marker, "title", {}, fmt::format("{}, {}", line.name, told(p)));
    }
  }

  // The description for screen readers.
  std::string description() const {
    std::string text;
    for (const Line& line : lines_) {
      if (line.faint) continue;
      if (!text.empty()) text += " ";
      text += line.name + ": ";
      if (labelled() || line.points.size() <= 10) {
        for (std::size_t i = 0; i < line.points.size(); ++i) text += (i == 0 ? "" : "; ") + told(line.points[i]);
      } else {
        const auto [least, most] = std::ranges::minmax_element(line.points, {}, &Point::y);
        text += fmt::format("first {}; last {}; least {}; greatest {}", told(line.points.front()),
                            told(line.points.back()), told(*least), told(*most));
      }
      text += ".";
    }
    return text;
  }

  const LineChart& chart_;
  std::vector<Line> lines_;
  Range x_, y_;
  std::vector<double> y_ticks_;
  double left_ = 0, height_ = 0;
  pugi::xml_node root_;
};

}  // namespace

pugi::xml_node add_chart(pugi::xml_node parent, const LineChart& chart) { return Drawing(chart).add_to(parent); }

void add_key(pugi::xml_node parent, std::size_t style) {
  const auto key = add_svg(parent, "key " + class_of(style), 34, 14, "");
  const auto stroke = add(key, "path", {{"class", "stroke"}, {"d", "M1 7H33"}});
  if (*dashes_of(style) != '\0') set(stroke, "stroke-dasharray", dashes_of(style));
  add(key, "path", {{"class", "marker"}, {"d", marker_path(style, 17, 7)}});
}

void add_bar(pugi::xml_node parent, const std::string& title, std::span<const Part> parts) {
  std::vector<std::string> names;
  for (const Part& part : parts) names.push_back(fmt::format("{} {}%", part.name, fixed(100 * part.share, 1)));
  const auto bar = add_svg(parent, "bar", kWidth, 22, title + ": " + fmt::to_string(fmt::join(names, ", ")));
  set(bar, "preserveAspectRatio", "none");
  double at = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double width = std::max(0.0, parts[i].share) * kWidth;
    const auto rectangle = add(
        bar, "rect", {{"class", fmt::format("part p{}", i)}, {"x", at}, {"y", 0}, {"width", width}, {"height", 22}});
    add(rectangle, "title", {}, names[i]);
    at += width;
  }
}

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
      double height = 0;
      if (!value::read(fields[i], height)) fail("'" + fields[i] + "' is not a number");
      chart.lines[i - 1].points.push_back({place, height});
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

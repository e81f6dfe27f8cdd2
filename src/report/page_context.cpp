#include "report/page_context.h"

#include "report/html.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::report {
namespace {

// Shortens a label for the axis: "11-20" gets an en dash, and words are replaced by signs.
std::string short_label(const std::string& label) {
  if (label.starts_with("up to ")) return fmt::format("\u2264{}", label.substr(6));
  if (label.starts_with("over ")) return fmt::format(">{}", label.substr(5));
  if (label.ends_with(" and more")) return fmt::format("\u2265{}", label.substr(0, label.size() - 9));
  std::string result = label;
  const auto dash = result.find('-');
  if (dash != std::string::npos) result.replace(dash, 1, "\u2013");
  return result;
}

}  // namespace

pugi::xml_node PageContext::section(const std::string& id, const std::string& title) {
  const auto node = add(main, "section", {{"id", id}, {"aria-labelledby", "heading-" + id}});
  add(node, "h2", {{"id", "heading-" + id}}, title);
  contents.emplace_back(id, title);
  return node;
}

void PageContext::chart(pugi::xml_node where, const std::string& id, const LineChart& chart, const std::string& note) {
  const auto figure = add(where, "figure", {{"class", "chart"}, {"id", id}});
  add(figure, "figcaption", {}, chart.title);
  const auto legend = add(figure, "ul", {{"class", "legend"}});
  for (const Line& line : chart.lines) {
    if (line.faint) continue;
    const auto item = add(legend, "li", {{"data-name", line.name}});
    add_key(item, line.style);
    add(item, "span", {{"class", "name"}}, line.name);
  }
  const auto plot = add(figure, "div", {{"class", "plot"}});
  add_chart(plot, chart);
  if (!note.empty()) add(figure, "p", {{"class", "note"}}, note);
}

pugi::xml_node PageContext::side(pugi::xml_node sides, const std::string& title, const std::string& language,
                                 bool system, const std::string& score) {
  const auto side = add(sides, "div", {{"class", "side"}});
  const auto heading = add(side, "h5");
  if (system) add_key(heading, styles.of(title));
  add_text(heading, (system ? " " : "") + title + (score.empty() ? "" : " "));
  if (!score.empty()) add(heading, "span", {{"class", "score"}}, score);
  const auto line = add(side, "p", {{"class", "words"}, {"dir", "auto"}});
  if (!language.empty()) set(line, "lang", language);
  return line;
}

void PageContext::pair(pugi::xml_node where, const std::string& id, LineChart chart, const std::string& note,
                       Table table) {
  for (std::size_t row = 0; row < table.chart_rows; ++row) {
    chart.x.labels.push_back(short_label(table.rows[row][0].text));
    if (!chart.x.notes_name.empty()) chart.x.notes.push_back(table.rows[row][1].text);
  }
  for (std::size_t column = chart.x.notes_name.empty() ? 1 : 2; column < table.columns.size(); ++column) {
    Line line{.name = table.columns[column].title, .style = styles.of(table.columns[column].title)};
    for (std::size_t row = 0; row < table.chart_rows; ++row) {
      const auto& point = table.rows[row][column].point;
      if (!point) continue;
      line.points.push_back(*point);
      line.points.back().x = static_cast<double>(row);
    }
    if (!line.points.empty()) chart.lines.push_back(std::move(line));
  }
  const auto both = add(where, "div", {{"class", "pair"}});
  this->chart(both, "chart-" + id, chart, note);
  table.id = "table-" + id;
  add_table(add(both, "div"), table);
}

}  // namespace rnnsearch::report

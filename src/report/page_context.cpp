#include "report/page_context.h"

#include "report/html.h"

namespace rnnsearch::report {

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
    add_svg(item, key_svg(line.style));
    add(item, "span", {{"class", "name"}}, line.name);
  }
  const auto plot = add(figure, "div", {{"class", "plot"}});
  add_svg(plot, svg_of(chart));
  if (!note.empty()) add(figure, "p", {{"class", "note"}}, note);
}

void PageContext::pair(pugi::xml_node where, const std::string& id, const LineChart& chart, const std::string& note,
                       Table table) {
  const auto both = add(where, "div", {{"class", "pair"}});
  this->chart(both, "chart-" + id, chart, note);
  table.id = "table-" + id;
  add_table(add(both, "div"), table);
}

}  // namespace rnnsearch::report

// The page under construction. Each part of the page adds a section if it has data.
#pragma once

#include <map>
#include <pugixml.hpp>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/report/line_chart.h"
#include "rnnsearch/report/table.h"

namespace rnnsearch::report {

/// Assigns a style (colour, dashes and marker) to each name, in the order of first use.
class Styles {
 public:
  std::size_t of(const std::string& name) { return styles_.try_emplace(name, styles_.size()).first->second; }

 private:
  std::map<std::string, std::size_t> styles_;
};

struct PageContext {
  pugi::xml_node main;
  Styles styles{};
  std::vector<std::pair<std::string, std::string>> contents{};  // id and title of each section

  /// Adds a section with a heading, and lists it in the contents.
  pugi::xml_node section(const std::string& id, const std::string& title);
  /// Adds a chart with legend, read-out and caption. where: the element that contains the figures.
  void chart(pugi::xml_node where, const std::string& id, const LineChart& chart, const std::string& note = {});
  /// Adds a text to texts side by side, and returns its empty paragraph. system: its title has the key of its lines.
  pugi::xml_node side(pugi::xml_node sides, const std::string& title, const std::string& language, bool system = false,
                      const std::string& score = {});
  /// Adds a table beside the chart of its points, with a place for each row, whose second cell is the note of the place
  /// if the notes have a name, and a line for each column. id: the end of both ids.
  void pair(pugi::xml_node where, const std::string& id, LineChart chart, const std::string& note, Table table);
};

}  // namespace rnnsearch::report

// What the parts of the page add to. Each part adds a section where its data is there, and nothing else.
#pragma once

#include <map>
#include <pugixml.hpp>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/report/line_chart.h"

namespace rnnsearch::report {

/// Colour, dashes and marker of each name, in the order of their first use.
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

  /// A section with its heading, listed in the contents.
  pugi::xml_node section(const std::string& id, const std::string& title);
  /// With legend, read-out and caption around it. `where`: an element that lays figures out.
  void chart(pugi::xml_node where, const std::string& id, const LineChart& chart, const std::string& note = {});
};

}  // namespace rnnsearch::report

// A table as people read it: to HTML and to Markdown.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <vector>

namespace rnnsearch::report {

struct Cell {
  std::string text;
  std::string mark{};     // beside the text: "*"
  bool strong = false;    // it matters more than its neighbours
  bool doubtful = false;  // not to be trusted
};

struct Column {
  std::string title;
  bool number = true;      // set to the right
  bool long_text = false;  // may break anywhere
};

/// The first cell of a row is its heading.
struct Table {
  std::string id{}, caption{};
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};
  std::vector<std::string> notes{};  // below
};

/// In a region of its own that scrolls when it is too wide.
void add_table(pugi::xml_node parent, const Table& table);
std::string markdown_of(const Table& table);

}  // namespace rnnsearch::report

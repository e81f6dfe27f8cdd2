// Tables for HTML and Markdown.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <vector>

namespace rnnsearch::report {

struct Cell {
  std::string text;
  std::string mark{};     // shown beside the text, such as "*"
  bool strong = false;    // emphasised
  bool doubtful = false;  // marked as unreliable
};

struct Column {
  std::string title;
  bool number = true;      // right-aligned
  bool long_text = false;  // lines may break anywhere
};

/// A table. The first cell of each row is its heading.
struct Table {
  std::string id{}, caption{};
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};
  std::vector<std::string> notes{};  // shown below the table
};

/// Adds a table in a region that scrolls if the table is too wide.
void add_table(pugi::xml_node parent, const Table& table);
std::string markdown_of(const Table& table);

}  // namespace rnnsearch::report

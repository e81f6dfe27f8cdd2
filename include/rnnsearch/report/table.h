// The model of every table, which is written as HTML (add_table in html.h), Markdown, CSV and text.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/report/axis.h"

namespace rnnsearch::report {

struct Cell {
  std::string text;
  std::string mark{};            // shown beside the text, such as "*"
  bool strong = false;           // emphasised
  bool doubtful = false;         // marked as unreliable
  std::optional<Point> point{};  // in the chart beside the table; x is the place of the row
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
  std::size_t chart_rows = 0;        // the first rows, which the chart beside the table shows
};

std::string markdown_of(const Table& table);
/// RFC 4180, with the titles of the columns as first line.
std::string csv_of(const Table& table);
/// Columns for a terminal, and below all tables their notes, each once.
std::string terminal_text(std::span<const Table> tables);

}  // namespace rnnsearch::report

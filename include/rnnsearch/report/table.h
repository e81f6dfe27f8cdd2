// The model of every table, which is written as HTML (add_table in html.h), Markdown, CSV and text.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/printable.h"
#include "rnnsearch/report/line_chart.h"

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

// Numbers in cells and texts, independently of the locale.

/// A number with this many decimals; "-" if it is not finite.
std::string fixed(double value, int decimals);
/// A number with this many significant digits, without an exponent from 1e-5 to 1e7: 3.217, 0.001451, 12,480.
std::string significant(double value, int digits);
/// A duration such as "45 s", "12 min 30 s", "3 h 20 min" or "2 d 4 h".
std::string duration(double seconds);

/// Replaces a leading hyphen by a minus sign.
std::string minus_sign(const std::string& number);

}  // namespace rnnsearch::report

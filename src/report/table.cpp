#include "rnnsearch/report/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

#include "report/html.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::report {
namespace {

// Escapes the characters that have a meaning in Markdown, or in HTML inside Markdown.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : drawable(text)) {
    if (std::string_view("\\`*_[]|#~").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  replace_all(result, "&", "&amp;");
  replace_all(result, "<", "&lt;");
  return result;
}

std::string csv_field(std::string text) {
  double number = 0;
  if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos &&
      std::from_chars(text.data(), text.data() + text.size(), number).ptr != text.data() + text.size()) {
    text = fmt::format("'{}", text);  // a spreadsheet would compute what begins like a formula
  }
  const bool quoted = text.find_first_of(",\"\r\n") != std::string::npos;
  replace_all(text, "\"", "\"\"");
  return quoted ? fmt::format("\"{}\"", text) : text;
}

}  // namespace

std::string markdown_of(const Table& table) {
  std::ostringstream text;
  text << "**" << escaped(table.caption) << "**\n\n|";
  for (const Column& column : table.columns) text << ' ' << escaped(column.title) << " |";
  text << "\n|";
  for (const Column& column : table.columns) text << (column.number ? " ---: |" : " --- |");
  text << '\n';
  for (const auto& row : table.rows) {
    text << '|';
    for (const Cell& cell : row) {
      const char* strong = cell.strong ? "**" : "";
      text << ' ' << strong << escaped(cell.text + cell.mark) << strong << " |";
    }
    text << '\n';
  }
  for (const std::string& note : table.notes) text << '\n' << escaped(note) << '\n';
  return std::move(text).str();
}

std::string csv_of(const Table& table) {
  std::string text;
  const auto add_line = [&](const auto& fields, const auto& field_of) {
    for (const auto& one : fields) {
      if (&one != &fields.front()) text += ',';
      text += csv_field(field_of(one));
    }
    text += "\r\n";
  };
  add_line(table.columns, [](const Column& column) { return column.title; });
  for (const auto& row : table.rows) add_line(row, [](const Cell& cell) { return cell.text; });
  return text;
}

std::string terminal_text(std::span<const Table> tables) {
  constexpr std::size_t kLongest = 60;
  std::string text;
  std::vector<std::string> notes;
  for (const Table& table : tables) {
    std::vector<std::vector<Cell>> rows{{}};
    for (const Column& column : table.columns) rows.front().push_back({column.title});
    rows.insert(rows.end(), table.rows.begin(), table.rows.end());
    std::vector<std::size_t> widths(table.columns.size()), marks(widths);
    for (auto& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        std::string& shown = row[i].text;
        shown = printable(shown);
        if (columns_of(shown) > kLongest) shown = cut(shown, kLongest - 1) + "\u2026";
        widths[i] = std::max(widths[i], columns_of(shown));
        marks[i] = std::max(marks[i], columns_of(row[i].mark));
      }
    }
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", printable(table.caption));
    for (const auto& row : rows) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const auto aligned = table.columns[i].number ? right(row[i].text, widths[i]) : left(row[i].text, widths[i]);
        line += (i == 0 ? "" : "  ") + aligned + left(row[i].mark, marks[i]);
      }
      const std::size_t width = columns_of(line);
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
      if (&row == &rows.front()) text += std::string(width, '-') + "\n";
    }
    for (const std::string& note : table.notes) {
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
  }
  if (!notes.empty()) text += "\n";
  for (const std::string& note : notes) text += printable(note) + "\n";
  return text;
}

std::string fixed(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  // Avoids "-0.00".
  return with_commas(text[0] == '-' && text.find_first_not_of("-0.") == text.npos ? text.substr(1) : text);
}

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const double size = std::abs(value);
  const std::string rounded = fmt::format("{:.{}e}", value, digits - 1);  // 9.996 with three digits is 10.0
  if (size < 1e-5 || size >= 1e7) return rounded;
  const int exponent = std::stoi(rounded.substr(rounded.find('e') + 1));
  return fixed(value, std::max(0, digits - 1 - exponent));
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  const std::uint64_t minutes = whole / 60, hours = minutes / 60, days = hours / 24;
  if (hours == 0) return fmt::format("{} min {} s", minutes, whole % 60);
  if (days == 0) return fmt::format("{} h {} min", hours, minutes % 60);
  return fmt::format("{} d {} h", days, hours % 24);
}

std::string minus_sign(const std::string& number) {
  return number.size() > 1 && number.front() == '-' ? fmt::format("\u2212{}", number.substr(1)) : number;
}

}  // namespace rnnsearch::report

#include "report/table.h"

#include <sstream>
#include <string_view>

#include "report/figure.h"
#include "report/html.h"

namespace rnnsearch::report {
namespace {

std::string class_of(const Column& column) {
  return column.number ? "number" : column.long_text ? "text long" : "text";
}

// Escapes the characters that have a meaning in Markdown, or in HTML inside Markdown.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : drawable(text)) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|#~").find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

}  // namespace

void add_table(pugi::xml_node parent, const Table& table) {
  const std::string caption = "caption-" + table.id;
  const auto region =
      add(parent, "div", {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-labelledby", caption}});
  const auto node = add(region, "table", {{"id", table.id}});
  add(node, "caption", {{"id", caption}}, table.caption);
  const auto head = add(add(node, "thead"), "tr");
  for (const Column& column : table.columns) {
    add(head, "th", {{"scope", "col"}, {"class", class_of(column)}}, column.title);
  }
  const auto body = add(node, "tbody");
  for (const auto& row : table.rows) {
    const auto line = add(body, "tr");
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Cell& cell = row[i];
      const auto data = i == 0 ? add(line, "th", {{"scope", "row"}}) : add(line, "td");
      std::string name = class_of(table.columns[i]);
      if (cell.doubtful) name += " doubtful";
      set(data, "class", name);
      const auto place = cell.strong ? add(data, "strong") : data;
      add_text(place, cell.text);
      if (!cell.mark.empty()) add(place, "sup", {}, cell.mark);
    }
  }
  for (const std::string& note : table.notes) add(parent, "p", {{"class", "note"}}, note);
}

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

}  // namespace rnnsearch::report

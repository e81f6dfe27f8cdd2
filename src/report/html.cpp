#include "report/html.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <vector>

#include "report/figures/figure.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::report {
namespace {

using namespace std::string_view_literals;

constexpr std::array kVoid{"area"sv,  "base"sv, "br"sv,   "col"sv,   "embed"sv,  "hr"sv,    "img"sv,
                           "input"sv, "link"sv, "meta"sv, "param"sv, "source"sv, "track"sv, "wbr"sv};

// pugixml writes an element with an empty text as <p></p>, but any other empty element as <p/>.
void close_empty_elements(pugi::xml_node node) {
  for (pugi::xml_node child : node.children()) {
    if (child.type() != pugi::node_element || child.name() == "svg"sv) continue;
    if (!child.first_child()) {
      if (std::find(kVoid.begin(), kVoid.end(), child.name()) == kVoid.end()) child.append_child(pugi::node_pcdata);
    } else {
      close_empty_elements(child);
    }
  }
}

std::string class_of(const Column& column) {
  return column.number ? "number" : column.long_text ? "text long" : "text";
}

}  // namespace

Attribute::Attribute(const char* key, double coordinate) : name(key), value(report::coordinate(coordinate)) {}

pugi::xml_node add(pugi::xml_node parent, const char* name, std::initializer_list<Attribute> attributes,
                   std::string_view text) {
  pugi::xml_node node = parent.append_child(name);
  for (const Attribute& attribute : attributes) set(node, attribute.name, attribute.value);
  if (!text.empty()) add_text(node, text);
  return node;
}

void add_text(pugi::xml_node parent, std::string_view text) {
  parent.append_child(pugi::node_pcdata).set_value(drawable(text).c_str());
}

void set(pugi::xml_node node, const char* name, std::string_view value) {
  pugi::xml_attribute attribute = node.attribute(name);
  if (!attribute) attribute = node.append_attribute(name);
  attribute.set_value(drawable(value).c_str());
}

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

std::string html_of(pugi::xml_node parent) {
  close_empty_elements(parent);
  std::ostringstream stream;
  for (const pugi::xml_node child : parent.children()) {
    child.print(stream, "", pugi::format_raw | pugi::format_no_declaration, pugi::encoding_utf8);
  }
  return std::move(stream).str();
}

std::string svg_file(const std::function<void(pugi::xml_node parent)>& draw) {
  pugi::xml_document document;
  draw(document);
  pugi::xml_node root = document.document_element();
  root.prepend_attribute("xmlns").set_value("http://www.w3.org/2000/svg");
  set(root, "style", "max-width:100%;height:auto");
  return html_of(document) + "\n";
}

}  // namespace rnnsearch::report

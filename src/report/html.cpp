#include "report/html.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"

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
      if (std::ranges::find(kVoid, child.name()) == kVoid.end()) child.append_child(pugi::node_pcdata);
    } else {
      close_empty_elements(child);
    }
  }
}

std::string class_of(const Column& column) {
  return column.number ? "number" : column.long_text ? "text long" : "text";
}

constexpr std::string_view kReplacement = "\uFFFD";
constexpr char32_t kEllipsis = U'\u2026';

// Whether it is a Char of XML 1.0, section 2.2, and not a control character.
bool in_xml(char32_t point) {
  return point >= 0x20 && !(point >= 0x7F && point < 0xA0) && point != 0xFFFE && point != 0xFFFF &&
         point != kNoCharacter;
}

// Whether it belongs to the preceding character: marks, joiners, variation selectors, skin tones. An ellipsis must not
// separate these.
bool joins(char32_t p) {
  return (p >= 0x300 && p <= 0x36F) || (p >= 0x200B && p <= 0x200F) || (p >= 0x20D0 && p <= 0x20FF) ||
         (p >= 0xFE00 && p <= 0xFE0F) || (p >= 0x1F3FB && p <= 0x1F3FF) || (p >= 0xE0100 && p <= 0xE01EF);
}

// The width in em in the widest of the usual sans-serif fonts (DejaVu Sans), rounded up. East Asian letters and
// pictographs are as wide as high.
double width_of(char32_t p) {
  if (joins(p)) return 0;
  if (p < 0x80) {
    const char c = static_cast<char>(p);
    if (std::string_view("fijlrt.,;:'|!I() []`").find(c) != std::string_view::npos) return 0.42;
    if (std::string_view("mMwW@%").find(c) != std::string_view::npos) return 1.0;
    if ((c >= 'A' && c <= 'Z') || std::string_view("<>&+=~#_^").find(c) != std::string_view::npos) return 0.84;
    return 0.64;
  }
  if (p < 0x1100) return 0.8;
  if (p == 0x2026) return 1.0;
  if (p < 0x2E80) return p >= 0x1E00 && p < 0x2000 ? 0.8 : 1.1;
  return 1.1;
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
  for (const Column& column : table.columns)
    add(head, "th", {{"scope", "col"}, {"class", class_of(column)}}, column.title);
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
  for (const pugi::xml_node child : parent.children())
    child.print(stream, "", pugi::format_raw | pugi::format_no_declaration, pugi::encoding_utf8);
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

std::string coordinate(double value) {
  std::string result = fmt::format("{:.2f}", value);
  while (result.back() == '0') result.pop_back();
  if (result.back() == '.') result.pop_back();
  return result == "-0" ? "0" : result;
}

std::string drawable(std::string_view text) {
  constexpr std::u32string_view kSpaces = U"\t\n\r\u0085\u2028\u2029", kIsolates = U"\u2066\u2067\u2068";
  constexpr std::u32string_view kEmbeddings = U"\u202a\u202b\u202d\u202e";
  std::string result, open;  // open: what ends the changes of direction that have not ended
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t point = next_character(text, at);
    const std::string_view character = text.substr(begin, at - begin);
    if (kIsolates.find(point) != kIsolates.npos) open = fmt::format("\u2069{}", open);
    if (kEmbeddings.find(point) != kEmbeddings.npos) open = fmt::format("\u202c{}", open);
    if (open.starts_with(character)) open.erase(0, character.size());
    result += kSpaces.find(point) != kSpaces.npos ? " " : in_xml(point) ? character : kReplacement;
  }
  return result + open;
}

double width_of(std::string_view drawable_text) {
  double width = 0;
  for (std::size_t at = 0; at < drawable_text.size();) width += width_of(next_character(drawable_text, at));
  return width;
}

std::size_t cut_of(std::string_view drawable_text, double longest) {
  const double room = longest - width_of(kEllipsis);
  double width = 0;
  std::size_t end = 0;
  bool joined = false;  // the last character was a zero-width joiner
  for (std::size_t at = 0; at < drawable_text.size();) {
    const std::size_t begin = at;
    const char32_t point = next_character(drawable_text, at);
    if (!joins(point) && !joined) end = begin;
    width += width_of(point);
    joined = point == 0x200D;
    if (width > room) break;
  }
  return end;
}

pugi::xml_node add_svg(pugi::xml_node parent, const std::string& class_name, double width, double height,
                       const std::string& title) {
  const auto svg = add(parent, "svg", {{"class", class_name}, {"width", width}, {"height", height}});
  set(svg, "viewBox", fmt::format("0 0 {} {}", coordinate(width), coordinate(height)));
  set(svg, title.empty() ? "aria-hidden" : "role", title.empty() ? "true" : "img");
  if (!title.empty()) set(svg, "aria-label", title);
  return svg;
}

pugi::xml_node add_label(pugi::xml_node parent, double x, double y, double font_pixels, const char* anchor,
                         const std::string& text) {
  // Some viewers do not support dominant-baseline, so the text is shifted: the middle of small letters is about a third
  // of an em above the baseline.
  return add(parent, "text", {{"x", x}, {"y", y + 0.35 * font_pixels}, {"text-anchor", anchor}}, text);
}

}  // namespace rnnsearch::report

// Functions that the parts of the page and the figures share: they build a pugixml tree, which escapes all text, and
// write it as HTML or as a file of SVG.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "rnnsearch/report/table.h"

namespace rnnsearch::report {

struct Attribute {
  const char* name;
  std::string value;

  Attribute(const char* key, std::string text) : name(key), value(std::move(text)) {}
  Attribute(const char* key, double coordinate);  // with at most two decimals
};

/// Appends an element. Texts and values may hold any bytes: invalid UTF-8 and characters that are not allowed in XML
/// become U+FFFD.
pugi::xml_node add(pugi::xml_node parent, const char* name, std::initializer_list<Attribute> attributes = {},
                   std::string_view text = {});
void add_text(pugi::xml_node parent, std::string_view text);
void set(pugi::xml_node node, const char* name, std::string_view value);

/// Adds a table in a region that scrolls if the table is too wide.
void add_table(pugi::xml_node parent, const Table& table);

/// The children of `parent` as HTML: only void elements of HTML and elements of SVG have no end tag. Changes the tree
/// (adds empty texts).
std::string html_of(pugi::xml_node parent);

/// A file of the SVG that `draw` adds to `parent`, which shrinks to the width of a window.
std::string svg_file(const std::function<void(pugi::xml_node parent)>& draw);

/// A coordinate with at most two decimals.
std::string coordinate(double value);

/// The text on one line: line ends and tabs become spaces, and invalid UTF-8 and control characters U+FFFD. A change of
/// direction ends with the text. Applying it twice changes nothing more.
std::string drawable(std::string_view text);
/// An upper bound of the width in common sans-serif fonts, in em.
double width_of(std::string_view drawable_text);

/// The end of the longest beginning of the text that is at most `longest` em wide together with an ellipsis, and does
/// not separate a character from its marks.
std::size_t cut_of(std::string_view drawable_text, double longest);

/// Adds an SVG. title: for screen readers; they skip a picture without one.
pugi::xml_node add_svg(pugi::xml_node parent, const std::string& class_name, double width, double height,
                       const std::string& title);
/// Text at x, vertically centred at y. anchor: "start", "middle" or "end", which is at x.
pugi::xml_node add_label(pugi::xml_node parent, double x, double y, double font_pixels, const char* anchor,
                         const std::string& text);

/// page.css and page.js, which CMake embeds into the program.
struct Asset {
  std::string_view text;
  std::string_view sha256;  // hexadecimal digest of the text, which the security policy of the page names
};
Asset page_style();
Asset page_script();

}  // namespace rnnsearch::report

// Functions that the parts of the page share: they build a pugixml tree, which escapes all text, and convert it to
// HTML.
#pragma once

#include <initializer_list>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "rnnsearch/report/table.h"

namespace rnnsearch::report {

struct Attribute {
  const char* name;
  std::string value;
};

/// Appends an element. Texts and values may hold any bytes: invalid UTF-8 and characters that are not allowed in XML
/// become U+FFFD.
pugi::xml_node add(pugi::xml_node parent, const char* name, std::initializer_list<Attribute> attributes = {},
                   std::string_view text = {});
void add_text(pugi::xml_node parent, std::string_view text);
void set(pugi::xml_node node, const char* name, std::string_view value);

/// Appends a complete SVG. Its style attributes are converted to SVG attributes, because the security policy of the
/// page allows no inline styles. REQUIRES: it is well-formed.
void add_svg(pugi::xml_node parent, const std::string& svg);

/// Adds a table in a region that scrolls if the table is too wide.
void add_table(pugi::xml_node parent, const Table& table);

/// The children of `parent` as HTML: only void elements of HTML and elements of SVG have no end tag. Changes the tree
/// (adds empty texts).
std::string html_of(pugi::xml_node parent);

}  // namespace rnnsearch::report

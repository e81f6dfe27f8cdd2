// Functions that the parts of the page and the figures share: they build a pugixml tree, which escapes all text, and
// write it as HTML or as a file of SVG.
#pragma once

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

}  // namespace rnnsearch::report

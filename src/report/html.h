// What the parts of the page share: elements of a pugixml tree, which escapes all text, and how the tree becomes HTML.
#pragma once

#include <initializer_list>
#include <pugixml.hpp>
#include <string>
#include <string_view>

namespace rnnsearch::report {

struct Attribute {
  const char* name;
  std::string value;
};

/// Appends an element. Texts and values may hold anything: what is no UTF-8, or no character of XML, becomes U+FFFD.
pugi::xml_node add(pugi::xml_node parent, const char* name, std::initializer_list<Attribute> attributes = {},
                   std::string_view text = {});
void add_text(pugi::xml_node parent, std::string_view text);
void set(pugi::xml_node node, const char* name, std::string_view value);

/// Appends a finished SVG. Its style attributes become attributes of SVG, because the page's policy allows no inline
/// style; REQUIRES that it is well-formed.
void add_svg(pugi::xml_node parent, const std::string& svg);

/// The children of `parent` as HTML: no element but HTML's void ones and SVG's is left without an end tag. Changes the
/// tree (empty texts).
std::string html_of(pugi::xml_node parent);

}  // namespace rnnsearch::report

// An SVG read back by a parser, for the tests of what draws it.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <pugixml.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace rnnsearch::report {

class Picture {
 public:
  /// Throws when it is not well-formed, or no SVG.
  explicit Picture(const std::string& svg) {
    const auto result = document_.load_string(svg.c_str(), pugi::parse_default | pugi::parse_ws_pcdata_single);
    if (!result) throw std::runtime_error(std::string("not well-formed: ") + result.description() + "\n" + svg);
    if (std::strcmp(root().name(), "svg") != 0 || root().next_sibling()) throw std::runtime_error("not one svg");
  }
  pugi::xml_node root() const { return document_.first_child(); }

  /// All elements of this name in the groups of this class.
  std::vector<pugi::xml_node> in(const char* group, const char* element) const {
    std::vector<pugi::xml_node> found;
    for (const auto& node : root().children("g")) {
      if (std::strcmp(node.attribute("class").value(), group) != 0) continue;
      for (const auto& child : node.children(element)) found.push_back(child);
    }
    return found;
  }
  std::vector<std::string> texts(const char* group) const {
    std::vector<std::string> found;
    for (const auto& text : in(group, "text")) found.push_back(text.child_value());
    return found;
  }
  std::vector<std::string> tooltips(const char* group) const {
    std::vector<std::string> found;
    for (const char* element : {"rect", "text"}) {
      for (const auto& node : in(group, element)) {
        if (node.child("title")) found.push_back(node.child_value("title"));
      }
    }
    return found;
  }

  /// Every rectangle and every text's place lies on the sheet.
  void expect_all_inside() const {
    double x0, y0, width, height;
    std::istringstream(root().attribute("viewBox").value()) >> x0 >> y0 >> width >> height;
    const auto expect_inside = [&](double x, double y) {
      EXPECT_TRUE(x >= 0 && x <= width + 0.02 && y >= 0 && y <= height + 0.02) << x << " " << y;
    };
    for (const auto& found : root().select_nodes("//rect")) {
      const auto rect = found.node();
      const double x = rect.attribute("x").as_double(), y = rect.attribute("y").as_double();
      expect_inside(x, y);
      expect_inside(x + rect.attribute("width").as_double(), y + rect.attribute("height").as_double());
    }
    for (const auto& found : root().select_nodes("//text")) {
      const auto text = found.node();
      double x = text.attribute("x").as_double(), y = text.attribute("y").as_double();
      if (const auto transform = text.attribute("transform")) {
        ASSERT_EQ(std::sscanf(transform.value(), "translate(%lf %lf)", &x, &y), 2);
      }
      expect_inside(x, y);
    }
  }

 private:
  pugi::xml_document document_;
};

}  // namespace rnnsearch::report

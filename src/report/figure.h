// What the figures of this room share: a sheet of SVG, words beside it, numbers as text.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/report/heat_map.h"

namespace rnnsearch::report {

/// Colours in CSS, which whoever embeds a figure may set; a viewer that does not know var() takes the attribute.
enum class Colour { kPaper, kInk, kLine, kBar };

/// At most two digits after the point.
std::string coordinate(double value);
/// Two digits after the point.
std::string weight_text(double weight);

/// The characters of `text`, each code point as UTF-8, that XML may hold; anything else is U+FFFD.
std::string drawable(std::string_view text);
/// In units of the font's size: no less than what common fonts without serifs need.
double width_of(std::string_view drawable_text);

/// A word in a margin: cut to at most `longest` em with an ellipsis.
struct Label {
  std::string whole, shown;
  double width = 0;  // of what is shown, in em
};
std::vector<Label> labels_of(const std::vector<std::string>& words, double longest);
double widest(const std::vector<Label>& labels);

/// Throws Error unless there are source x target weights from 0 to 1.
void check(const AttentionMatrix& alignment);

class Figure {
 public:
  /// `description` is for readers of the screen, who do not see the squares.
  Figure(double width, double height, double font_pixels, const std::string& title, const std::string& description);

  pugi::xml_node root() { return root_; }
  pugi::xml_node group(pugi::xml_node parent, const char* name);
  pugi::xml_node rectangle(pugi::xml_node parent, double x, double y, double width, double height);
  pugi::xml_node line(pugi::xml_node parent, double x1, double y1, double x2, double y2);
  /// Text that ends at x when `ends` is set, else begins there; its middle is at the height y.
  pugi::xml_node text(pugi::xml_node parent, double x, double y, const Label& label, bool ends = false);
  /// Text that begins at (x, y) and runs upwards, its middle at x.
  pugi::xml_node upright_text(pugi::xml_node parent, double x, double y, const Label& label);
  std::string svg() const;

  static void colour(pugi::xml_node node, const char* attribute, Colour colour);
  static void tooltip(pugi::xml_node node, const std::string& text);

 private:
  double font_pixels_;
  pugi::xml_document document_;
  pugi::xml_node root_;
};

}  // namespace rnnsearch::report

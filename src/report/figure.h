// Functions that the figures of this module share: SVG elements, labels and formatted numbers.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/report/heat_map.h"

namespace rnnsearch::report {

/// Colours as CSS variables, which an embedding page may set; a viewer without var() uses the attribute.
enum class Colour { kPaper, kInk, kLine, kBar };

/// A coordinate with at most two decimals.
std::string coordinate(double value);
/// A weight with two decimals.
std::string weight_text(double weight);

/// The text on one line: line ends and tabs become spaces, and invalid UTF-8 and control characters U+FFFD. A change of
/// direction ends with the text. Applying it twice changes nothing more.
std::string drawable(std::string_view text);
/// An upper bound of the width in common sans-serif fonts, in em.
double width_of(std::string_view drawable_text);

/// A word in a margin. labels_of shortens it to at most `longest` em with an ellipsis.
struct Label {
  std::string whole, shown;
  double width = 0;  // width of `shown`, in em
};
std::vector<Label> labels_of(const std::vector<std::string>& words, double longest);
double widest(const std::vector<Label>& labels);

/// Throws Error unless there are source x target weights, all from 0 to 1.
void check(const AttentionMatrix& alignment);

class Figure {
 public:
  /// description: for screen readers.
  Figure(double width, double height, double font_pixels, const std::string& title, const std::string& description);

  pugi::xml_node root() { return root_; }
  pugi::xml_node group(pugi::xml_node parent, const char* name);
  pugi::xml_node rectangle(pugi::xml_node parent, double x, double y, double width, double height);
  pugi::xml_node line(pugi::xml_node parent, double x1, double y1, double x2, double y2);
  /// Text that ends at x if `ends` is set and otherwise starts at x, vertically centred at y.
  pugi::xml_node text(pugi::xml_node parent, double x, double y, const Label& label, bool ends = false);
  /// Text that starts at (x, y) and runs upwards, centred at x.
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

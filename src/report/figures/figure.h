// Functions that the figures of this module share: SVG elements, labels and formatted numbers.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/report/heat_map.h"

namespace rnnsearch::report {

// What every viewer draws; page.css gives the classes of a figure the colours of the page.
inline constexpr const char *kPaper = "#ffffff", *kInk = "#1a1a1a", *kLine = "#8a8a8a", *kBar = "#1f6fb4";

/// A coordinate with at most two decimals.
std::string coordinate(double value);

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
inline constexpr double kLongestLabel = 20;  // em, in pictures of alignments
/// "the \u2192 le: 0.75"
std::string tooltip(const Label& source, const Label& target, double weight);

/// Throws Error unless there are source x target weights, all from 0 to 1.
void check(const AttentionMatrix& alignment);

/// Adds an SVG. title: for screen readers; they skip a picture without one.
pugi::xml_node add_svg(pugi::xml_node parent, const std::string& class_name, double width, double height,
                       const std::string& title);
/// Text at x, vertically centred at y. anchor: "start", "middle" or "end", which is at x.
pugi::xml_node add_label(pugi::xml_node parent, double x, double y, double font_pixels, const char* anchor,
                         const std::string& text);

/// A sheet of paper with words in its margins. Its groups are children of `root`.
struct Figure {
  double font_pixels;
  pugi::xml_node root;

  /// description: for screen readers.
  Figure(pugi::xml_node parent, double width, double height, double font, const std::string& title,
         const std::string& description);
  pugi::xml_node group(const char* name, const char* fill) const;
  pugi::xml_node rectangle(pugi::xml_node parent, double x, double y, double width, double height,
                           const char* fill = nullptr) const;
  /// A word that starts at x, or ends there.
  pugi::xml_node word(pugi::xml_node parent, double x, double y, const Label& label, bool ends = false) const;
  /// A word that starts at (x, y) and runs upwards, centred at x.
  void upright_word(pugi::xml_node parent, double x, double y, const Label& label) const;
};

}  // namespace rnnsearch::report

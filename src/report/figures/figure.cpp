#include "report/figures/figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "report/html.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::report {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";
constexpr const char* kEllipsis = "\u2026";

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

std::vector<Label> labels_of(const std::vector<std::string>& words, double longest) {
  std::vector<Label> labels;
  for (const std::string& word : words) {
    Label label{drawable(word), {}, 0};
    label.width = width_of(std::string_view(label.whole));
    label.shown = label.whole;
    if (label.width > longest) {
      const double room = longest - width_of(std::string_view(kEllipsis));
      double width = 0;
      std::size_t end = 0;
      bool joined = false;  // the last character was a zero-width joiner
      for (std::size_t at = 0; at < label.whole.size();) {
        const std::size_t begin = at;
        const char32_t point = next_character(label.whole, at);
        if (!joins(point) && !joined) end = begin;
        width += width_of(point);
        joined = point == 0x200D;
        if (width > room) break;
      }
      label.shown = label.whole.substr(0, end) + kEllipsis;
      label.width = longest;
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

double widest(const std::vector<Label>& labels) {
  double width = 0;
  for (const Label& label : labels) width = std::max(width, label.width);
  return width;
}

std::string tooltip(const Label& source, const Label& target, double weight) {
  return fmt::format("{} \u2192 {}: {:.2f}", source.whole, target.whole, weight);
}

void check(const AttentionMatrix& alignment) {
  const std::size_t Tx = alignment.source.size(), Ty = alignment.target.size();
  if (alignment.weights.size() != Tx * Ty) {
    throw Error("report: an alignment of {} target words with {} source words needs {} weights but has {}", Ty, Tx,
                Tx * Ty, alignment.weights.size());
  }
  for (std::size_t i = 0; i < alignment.weights.size(); ++i) {
    const double weight = alignment.weights[i];
    if (!(weight >= 0 && weight <= 1 + 1e-4)) {  // a softmax in float may give slightly more than 1
      throw Error("report: the weight of target word {} and source word {} is {:g}; it must be from 0 to 1", i / Tx + 1,
                  i % Tx + 1, weight);
    }
  }
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

Figure::Figure(pugi::xml_node parent, double width, double height, double font, const std::string& title,
               const std::string& description)
    : font_pixels(font), root(add_svg(parent, "figure", width, height, title)) {
  set(root, "font-family", "sans-serif");
  set(root, "font-size", coordinate(font));
  set(root, "direction", "ltr");  // also in a page with right-to-left text
  add(root, "title", {}, title);
  add(root, "desc", {}, description);
  set(rectangle(root, 0, 0, width, height, kPaper), "class", "paper");
}

pugi::xml_node Figure::group(const char* name, const char* fill) const {
  return add(root, "g", {{"class", name}, {"fill", fill}});
}

pugi::xml_node Figure::rectangle(pugi::xml_node parent, double x, double y, double width, double height,
                                 const char* fill) const {
  const auto node = add(parent, "rect", {{"x", x}, {"y", y}, {"width", width}, {"height", height}});
  if (fill != nullptr) set(node, "fill", fill);
  return node;
}

pugi::xml_node Figure::word(pugi::xml_node parent, double x, double y, const Label& label, bool ends) const {
  const auto node = add_label(parent, x, y, font_pixels, ends ? "end" : "start", label.shown);
  if (label.shown != label.whole) add(node, "title", {}, label.whole);
  return node;
}

void Figure::upright_word(pugi::xml_node parent, double x, double y, const Label& label) const {
  const auto node = word(parent, 0, 0, label);
  set(node, "transform", fmt::format("translate({} {}) rotate(-90)", coordinate(x), coordinate(y)));
}

}  // namespace rnnsearch::report

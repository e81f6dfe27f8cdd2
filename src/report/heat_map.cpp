#include "rnnsearch/report/heat_map.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>

#include "report/html.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::report {
namespace {

// What every viewer draws; page.css gives the classes of a figure the colours of the page.
constexpr const char *kPaper = "#ffffff", *kInk = "#1a1a1a", *kLine = "#8a8a8a", *kBar = "#1f6fb4";
constexpr double kCell = 18, kFont = 0.72 * kCell, kGap = 0.4 * kCell;  // pixels; kCell: side length of a square
constexpr double kLongestLabel = 20;                                    // em

/// A word in a margin, which ends in an ellipsis if it is too long.
struct Label {
  std::string whole, shown;
};
std::vector<Label> labels_of(const std::vector<std::string>& words) {
  std::vector<Label> labels;
  for (const std::string& word : words) {
    const std::string whole = drawable(word);
    const bool fits = width_of(whole) <= kLongestLabel;
    labels.push_back({whole, fits ? whole : whole.substr(0, cut_of(whole, kLongestLabel)) + "\u2026"});
  }
  return labels;
}
/// In pixels.
double widest(const std::vector<Label>& labels) {
  double width = 0;
  for (const Label& label : labels) width = std::max(width, std::min(width_of(label.whole), kLongestLabel));
  return width * kFont;
}

std::string tooltip(const Label& source, const Label& target, double weight) {
  return fmt::format("{} \u2192 {}: {:.2f}", source.whole, target.whole, weight);
}

void check([[maybe_unused]] const AttentionMatrix& alignment) {
  assert(alignment.weights.size() == alignment.source.size() * alignment.target.size());
  // a softmax in float may give slightly more than 1
  assert(std::ranges::all_of(alignment.weights, [](double w) { return w >= 0 && w <= 1 + 1e-4; }));
}

pugi::xml_node rectangle(pugi::xml_node parent, double x, double y, double width, double height,
                         const std::string& fill = "") {
  const auto node = add(parent, "rect", {{"x", x}, {"y", y}, {"width", width}, {"height", height}});
  if (!fill.empty()) set(node, "fill", fill);
  return node;
}

/// A word that starts at x, or ends there.
pugi::xml_node word(pugi::xml_node parent, double x, double y, const Label& label, bool ends = false) {
  const auto node = add_label(parent, x, y, kFont, ends ? "end" : "start", label.shown);
  if (label.shown != label.whole) add(node, "title", {}, label.whole);
  return node;
}

/// A word that starts at (x, y) and runs upwards, centred at x.
void upright_word(pugi::xml_node parent, double x, double y, const Label& label) {
  set(word(parent, 0, 0, label), "transform",
      fmt::format("translate({} {}) rotate(-90)", coordinate(x), coordinate(y)));
}

pugi::xml_node group(pugi::xml_node figure, const char* name, const char* fill) {
  return add(figure, "g", {{"class", name}, {"fill", fill}});
}

/// A sheet of paper, whose groups are its children. description: for screen readers.
pugi::xml_node add_sheet(pugi::xml_node parent, double width, double height, const std::string& title,
                         const std::string& description) {
  const auto root = add_svg(parent, "figure", width, height, title);
  set(root, "font-family", "sans-serif");
  set(root, "font-size", coordinate(kFont));
  set(root, "direction", "ltr");  // also in a page with right-to-left text
  add(root, "title", {}, title);
  add(root, "desc", {}, description);
  set(rectangle(root, 0, 0, width, height, kPaper), "class", "paper");
  return root;
}

constexpr int kScaleSteps = 11;  // 0, 0.1, ..., 1

// Black is 0 and white is 1, as in the paper.
std::string grey(double weight) {
  return fmt::format("#{0:02x}{0:02x}{0:02x}", std::lround(255 * std::clamp(weight, 0.0, 1.0)));
}

// A description for screen readers: the source word with the largest weight for each target word.
std::string description_of(const std::vector<Label>& source, const std::vector<Label>& target,
                           const std::vector<double>& weights) {
  std::string text = "Rows are target words, columns are source words; black is 0, white is 1.";
  if (source.empty()) return text;
  text += " The source word with the largest weight for each target word:";
  for (std::size_t i = 0; i < target.size(); ++i) {
    const auto row = weights.begin() + static_cast<std::ptrdiff_t>(i * source.size());
    const auto most = std::max_element(row, row + static_cast<std::ptrdiff_t>(source.size()));
    const Label& word = source[static_cast<std::size_t>(most - row)];
    text += fmt::format("{}{}: {} {:.2f}", i == 0 ? " " : "; ", target[i].whole, word.whole, *most);
  }
  return text + ".";
}

}  // namespace

void add_heat_map(pugi::xml_node parent, const AttentionMatrix& alignment, const std::string& title) {
  check(alignment);
  const std::size_t Tx = alignment.source.size(), Ty = alignment.target.size();
  const auto source = labels_of(alignment.source), target = labels_of(alignment.target);
  const double scale_cell = 0.6 * kCell, scale_width = kScaleSteps * scale_cell + 3.2 * kFont;
  const double left = kGap + widest(target) + kGap, top = kGap + widest(source) + kGap;
  const double right = left + static_cast<double>(Tx) * kCell, bottom = top + static_cast<double>(Ty) * kCell;
  const double width = std::max(right, left + scale_width) + kGap, height = bottom + kGap + scale_cell + 2 * kGap;
  const auto figure = add_sheet(parent, width, height, title, description_of(source, target, alignment.weights));

  const auto sources = group(figure, "source", kInk), targets = group(figure, "target", kInk);
  const auto weights = group(figure, "weights", kInk), scale = group(figure, "scale", kInk);
  const auto frame = group(figure, "frame", "none");
  for (std::size_t j = 0; j < Tx; ++j)
    upright_word(sources, left + (static_cast<double>(j) + 0.5) * kCell, top - kGap, source[j]);
  for (std::size_t i = 0; i < Ty; ++i)
    word(targets, left - kGap, top + (static_cast<double>(i) + 0.5) * kCell, target[i], true);
  set(weights, "shape-rendering", "crispEdges");
  for (std::size_t i = 0; i < Ty; ++i) {
    for (std::size_t j = 0; j < Tx; ++j) {
      const double weight = alignment.weights[i * Tx + j];
      const auto square = rectangle(weights, left + static_cast<double>(j) * kCell,
                                    top + static_cast<double>(i) * kCell, kCell, kCell, grey(weight));
      add(square, "title", {}, tooltip(source[j], target[i], weight));
    }
  }
  const double scale_top = bottom + 1.5 * kGap, scale_left = left + 0.9 * kFont,
               scale_middle = scale_top + scale_cell / 2;
  word(scale, left, scale_middle, {"0", "0"});
  for (int k = 0; k < kScaleSteps; ++k) {
    const auto step =
        rectangle(scale, scale_left + k * scale_cell, scale_top, scale_cell, scale_cell, grey(k / (kScaleSteps - 1.0)));
    set(step, "shape-rendering", "crispEdges");
  }
  word(scale, scale_left + kScaleSteps * scale_cell + 0.3 * kFont, scale_middle, {"1", "1"});
  // Frames show where white squares end on white paper, and black squares on black paper.
  set(frame, "stroke", kLine);
  rectangle(frame, left, top, right - left, bottom - top);
  rectangle(frame, scale_left, scale_top, kScaleSteps * scale_cell, scale_cell);
}

std::string heat_map(const AttentionMatrix& alignment, const std::string& title) {
  return svg_file([&](pugi::xml_node parent) { add_heat_map(parent, alignment, title); });
}

std::string attention_bars(const AttentionMatrix& alignment, const std::string& title) {
  check(alignment);
  const std::size_t Tx = alignment.source.size(), Ty = alignment.target.size();
  const auto source = labels_of(alignment.source), target = labels_of(alignment.target);
  const auto headings = labels_of({"attention", "fixed context"});
  const double row_height = 2.5 * kCell, pitch = row_height + 0.5 * kCell;
  const double panel = std::max(static_cast<double>(Tx) * kCell, widest({headings[1]}));
  const double left = kGap + widest(target) + kGap, between = 2 * kCell;
  const double words_bottom = 1.5 * kCell + kGap + widest(source), top = words_bottom + kGap;
  const double width = left + 2 * panel + between + kGap;
  const double height = top + static_cast<double>(Ty) * pitch + kGap;
  return svg_file([&](pugi::xml_node parent) {
    const auto figure = add_sheet(parent, width, height, title,
                                  "A row is a decoding step, that of the target word on its left; the bars are the "
                                  "weights of the source words, from 0 to 1. Left: attention. Right: a fixed context, "
                                  "which is the encoder's state after the last source word at every step.");
    const auto targets = group(figure, "target", kInk);
    for (std::size_t i = 0; i < Ty; ++i)
      word(targets, left - kGap, top + static_cast<double>(i) * pitch + row_height - 0.35 * kFont, target[i], true);
    const auto draw_panel = [&](const char* name, const Label& heading, double x,
                                const std::function<double(std::size_t i, std::size_t j)>& weight_of) {
      const auto words = group(figure, "source", kInk), lines = group(figure, "lines", "none");
      const auto bars = group(figure, name, kBar);
      set(word(words, x, 0.75 * kCell, heading), "font-weight", "bold");
      for (std::size_t j = 0; j < Tx; ++j)
        upright_word(words, x + (static_cast<double>(j) + 0.5) * kCell, words_bottom, source[j]);
      set(lines, "stroke", kLine);
      set(lines, "stroke-width", "0.5");
      const double right = x + static_cast<double>(Tx) * kCell;
      for (std::size_t i = 0; i < Ty; ++i) {
        const double bottom = top + static_cast<double>(i) * pitch + row_height, full = bottom - row_height;
        add(lines, "line", {{"x1", x}, {"y1", full}, {"x2", right}, {"y2", full}, {"stroke-dasharray", "2 3"}});
        add(lines, "line", {{"x1", x}, {"y1", bottom}, {"x2", right}, {"y2", bottom}});
        for (std::size_t j = 0; j < Tx; ++j) {
          const double weight = weight_of(i, j), tall = row_height * std::min(weight, 1.0);
          const auto bar =
              rectangle(bars, x + (static_cast<double>(j) + 0.12) * kCell, bottom - tall, 0.76 * kCell, tall);
          add(bar, "title", {}, tooltip(source[j], target[i], weight));
        }
      }
    };
    draw_panel("attention", headings[0], left,
               [&](std::size_t i, std::size_t j) { return alignment.weights[i * Tx + j]; });
    draw_panel("fixed-context", headings[1], left + panel + between,
               [&](std::size_t, std::size_t j) { return j + 1 == Tx ? 1.0 : 0.0; });
  });
}

namespace {

constexpr std::size_t kLongestWord = 16;  // in columns of the terminal, and as many lines for the source words

std::vector<std::string> characters_of(const std::string& word) {
  std::vector<std::string> characters;
  for (std::size_t at = 0; at < word.size(); at += characters.back().size())
    characters.push_back(word.substr(at, utf8_size(word[at])));
  return characters;
}

/// Two columns, darker for larger weights as on paper.
const char* cell_of(double weight) {
  return weight < 0.05 ? "· " : weight < 0.25 ? "░░" : weight < 0.5 ? "▒▒" : weight < 0.75 ? "▓▓" : "██";
}

}  // namespace

std::string terminal_heat_map(const AttentionMatrix& alignment) {
  std::vector<std::string> target;
  std::vector<std::vector<std::string>> source;
  std::size_t margin = 0, height = 0;
  for (const std::string& word : alignment.target) {
    target.push_back(cut(printable(word), kLongestWord));
    margin = std::max(margin, columns_of(target.back()));
  }
  for (const std::string& word : alignment.source) {
    source.push_back(characters_of(cut(printable(word), kLongestWord)));
    height = std::max(height, source.back().size());
  }
  std::string text;
  for (std::size_t line = height; line > 0; --line) {  // the words stand on the matrix
    text += std::string(margin + 1, ' ');
    for (const auto& word : source) text += line > word.size() ? "  " : left(word[word.size() - line], 2);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  for (std::size_t i = 0; i < target.size(); ++i) {
    text += right(target[i], margin) + ' ';
    for (std::size_t j = 0; j < source.size(); ++j) text += cell_of(alignment.weights[i * source.size() + j]);
    text += '\n';
  }
  return text;
}

}  // namespace rnnsearch::report

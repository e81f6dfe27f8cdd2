#include "rnnsearch/report/heat_map.h"

#include <algorithm>
#include <cmath>

#include "report/figure.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::report {
namespace {

constexpr double kLongestLabel = 20;  // em
constexpr int kScaleSteps = 11;       // 0, 0.1, ..., 1

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
    text += (i == 0 ? " " : "; ") + target[i].whole + ": " + source[static_cast<std::size_t>(most - row)].whole + " " +
            weight_text(*most);
  }
  return text + ".";
}

}  // namespace

std::string heat_map(const AttentionMatrix& alignment, const PictureOptions& options) {
  check(alignment);
  const std::size_t Tx = alignment.source.size(), Ty = alignment.target.size();
  const auto source = labels_of(alignment.source, kLongestLabel), target = labels_of(alignment.target, kLongestLabel);
  const double cell = options.cell_pixels, font = 0.72 * cell, gap = 0.4 * cell;
  const double scale_cell = 0.6 * cell, scale_width = kScaleSteps * scale_cell + 3.2 * font;
  const double left = gap + widest(target) * font + gap, top = gap + widest(source) * font + gap;
  const double right = left + static_cast<double>(Tx) * cell, bottom = top + static_cast<double>(Ty) * cell;
  const double width = std::max(right, left + scale_width) + gap, height = bottom + gap + scale_cell + 2 * gap;
  const std::string title = !options.title.empty()
                                ? options.title
                                : fmt::format("Soft alignment of {} target words with {} source words", Ty, Tx);
  Figure figure(width, height, font, title, description_of(source, target, alignment.weights));

  const auto sources = figure.group(figure.root(), "source");
  Figure::colour(sources, "fill", Colour::kInk);
  for (std::size_t j = 0; j < Tx; ++j) {
    figure.upright_text(sources, left + (static_cast<double>(j) + 0.5) * cell, top - gap, source[j]);
  }
  const auto targets = figure.group(figure.root(), "target");
  Figure::colour(targets, "fill", Colour::kInk);
  for (std::size_t i = 0; i < Ty; ++i) {
    figure.text(targets, left - gap, top + (static_cast<double>(i) + 0.5) * cell, target[i], true);
  }
  auto weights = figure.group(figure.root(), "weights");
  weights.append_attribute("shape-rendering").set_value("crispEdges");
  for (std::size_t i = 0; i < Ty; ++i) {
    for (std::size_t j = 0; j < Tx; ++j) {
      const double weight = alignment.weights[i * Tx + j];
      auto square = figure.rectangle(weights, left + static_cast<double>(j) * cell, top + static_cast<double>(i) * cell,
                                     cell, cell);
      square.append_attribute("fill").set_value(grey(weight).c_str());
      Figure::tooltip(square, source[j].whole + " \u2192 " + target[i].whole + ": " + weight_text(weight));
    }
  }
  // A frame shows where white squares end on white paper, and black squares on black paper.
  auto frame = figure.group(figure.root(), "frame");
  frame.append_attribute("fill").set_value("none");
  Figure::colour(frame, "stroke", Colour::kLine);
  figure.rectangle(frame, left, top, right - left, bottom - top);
  auto scale = figure.group(figure.root(), "scale");
  const double scale_top = bottom + 1.5 * gap, scale_left = left + 0.9 * font;
  Figure::colour(scale, "fill", Colour::kInk);
  figure.text(scale, left, scale_top + scale_cell / 2, {"0", "0", 0.64});
  for (int k = 0; k < kScaleSteps; ++k) {
    auto step = figure.rectangle(scale, scale_left + k * scale_cell, scale_top, scale_cell, scale_cell);
    step.append_attribute("fill").set_value(grey(k / (kScaleSteps - 1.0)).c_str());
    step.append_attribute("shape-rendering").set_value("crispEdges");
  }
  auto outline = figure.rectangle(scale, scale_left, scale_top, kScaleSteps * scale_cell, scale_cell);
  outline.append_attribute("fill").set_value("none");
  Figure::colour(outline, "stroke", Colour::kLine);
  figure.text(scale, scale_left + kScaleSteps * scale_cell + 0.3 * font, scale_top + scale_cell / 2, {"1", "1", 0.64});
  return figure.svg();
}

}  // namespace rnnsearch::report

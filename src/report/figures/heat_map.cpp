#include "rnnsearch/report/heat_map.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "report/figures/figure.h"
#include "report/html.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::report {
namespace {

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

void add_heat_map(pugi::xml_node parent, const AttentionMatrix& alignment, const PictureOptions& options) {
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
  const Figure figure(parent, width, height, font, title, description_of(source, target, alignment.weights));

  const auto sources = figure.group("source", kInk), targets = figure.group("target", kInk);
  const auto weights = figure.group("weights", kInk), scale = figure.group("scale", kInk);
  const auto frame = figure.group("frame", "none");
  for (std::size_t j = 0; j < Tx; ++j) {
    figure.upright_word(sources, left + (static_cast<double>(j) + 0.5) * cell, top - gap, source[j]);
  }
  for (std::size_t i = 0; i < Ty; ++i) {
    figure.word(targets, left - gap, top + (static_cast<double>(i) + 0.5) * cell, target[i], true);
  }
  set(weights, "shape-rendering", "crispEdges");
  for (std::size_t i = 0; i < Ty; ++i) {
    for (std::size_t j = 0; j < Tx; ++j) {
      const double weight = alignment.weights[i * Tx + j];
      const auto square = figure.rectangle(weights, left + static_cast<double>(j) * cell,
                                           top + static_cast<double>(i) * cell, cell, cell, grey(weight).c_str());
      add(square, "title", {}, tooltip(source[j], target[i], weight));
    }
  }
  const double scale_top = bottom + 1.5 * gap, scale_left = left + 0.9 * font,
               scale_middle = scale_top + scale_cell / 2;
  figure.word(scale, left, scale_middle, {"0", "0", 0.64});
  for (int k = 0; k < kScaleSteps; ++k) {
    const auto step = figure.rectangle(scale, scale_left + k * scale_cell, scale_top, scale_cell, scale_cell,
                                       grey(k / (kScaleSteps - 1.0)).c_str());
    set(step, "shape-rendering", "crispEdges");
  }
  figure.word(scale, scale_left + kScaleSteps * scale_cell + 0.3 * font, scale_middle, {"1", "1", 0.64});
  // Frames show where white squares end on white paper, and black squares on black paper.
  set(frame, "stroke", kLine);
  figure.rectangle(frame, left, top, right - left, bottom - top);
  figure.rectangle(frame, scale_left, scale_top, kScaleSteps * scale_cell, scale_cell);
}

std::string heat_map(const AttentionMatrix& alignment, const PictureOptions& options) {
  return svg_file([&](pugi::xml_node parent) { add_heat_map(parent, alignment, options); });
}

std::string attention_bars(const AttentionMatrix& alignment, const PictureOptions& options) {
  check(alignment);
  const std::size_t Tx = alignment.source.size(), Ty = alignment.target.size();
  const auto source = labels_of(alignment.source, kLongestLabel), target = labels_of(alignment.target, kLongestLabel);
  const auto headings = labels_of({"attention", "fixed context"}, kLongestLabel);
  const double cell = options.cell_pixels, font = 0.72 * cell, gap = 0.4 * cell;
  const double row_height = 2.5 * cell, pitch = row_height + 0.5 * cell;
  const double panel = std::max(static_cast<double>(Tx) * cell, headings[1].width * font);
  const double left = gap + widest(target) * font + gap, between = 2 * cell;
  const double words_bottom = 1.5 * cell + gap + widest(source) * font, top = words_bottom + gap;
  const double width = left + 2 * panel + between + gap;
  const double height = top + static_cast<double>(Ty) * pitch + gap;
  const std::string title = !options.title.empty()
                                ? options.title
                                : fmt::format("Attention over {} source words in {} decoding steps", Tx, Ty);
  return svg_file([&](pugi::xml_node parent) {
    const Figure figure(
        parent, width, height, font, title,
        "A row is a decoding step, that of the target word on its left; the bars are the weights of the source words, "
        "from 0 to 1. Left: attention. Right: a fixed context, which is the encoder's state after the last source word "
        "at every step.");
    const auto targets = figure.group("target", kInk);
    for (std::size_t i = 0; i < Ty; ++i) {
      figure.word(targets, left - gap, top + static_cast<double>(i) * pitch + row_height - 0.35 * font, target[i],
                  true);
    }
    const auto draw_panel = [&](const char* name, const Label& heading, double x,
                                const std::function<double(std::size_t i, std::size_t j)>& weight_of) {
      const auto words = figure.group("source", kInk), lines = figure.group("lines", "none");
      const auto bars = figure.group(name, kBar);
      set(figure.word(words, x, 0.75 * cell, heading), "font-weight", "bold");
      for (std::size_t j = 0; j < Tx; ++j) {
        figure.upright_word(words, x + (static_cast<double>(j) + 0.5) * cell, words_bottom, source[j]);
      }
      set(lines, "stroke", kLine);
      set(lines, "stroke-width", "0.5");
      const double right = x + static_cast<double>(Tx) * cell;
      for (std::size_t i = 0; i < Ty; ++i) {
        const double bottom = top + static_cast<double>(i) * pitch + row_height, full = bottom - row_height;
        add(lines, "line", {{"x1", x}, {"y1", full}, {"x2", right}, {"y2", full}, {"stroke-dasharray", "2 3"}});
        add(lines, "line", {{"x1", x}, {"y1", bottom}, {"x2", right}, {"y2", bottom}});
        for (std::size_t j = 0; j < Tx; ++j) {
          const double weight = weight_of(i, j), tall = row_height * std::min(weight, 1.0);
          const auto bar =
              figure.rectangle(bars, x + (static_cast<double>(j) + 0.12) * cell, bottom - tall, 0.76 * cell, tall);
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

}  // namespace rnnsearch::report

#include "rnnsearch/report/attention_bars.h"

#include <algorithm>
#include <functional>

#include "report/figure.h"
#include "report/html.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::report {

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

// Draws the soft alignment of a sentence, like figure 3 of Bahdanau, Cho and Bengio (2015).
#pragma once

#include <string>
#include <vector>

namespace rnnsearch::report {

/// A pair of sentences and the attention weight of each source word for each target word.
struct AttentionMatrix {
  std::vector<std::string> source;  // [Tx] words, including </s> if there is one
  std::vector<std::string> target;  // [Ty]
  std::vector<double> weights;      // [Ty, Tx] row-major, each from 0 to 1
};

struct PictureOptions {
  std::string title{};      // for screen readers, and as tooltip; if empty, it states the numbers of words
  double cell_pixels = 18;  // side length of a square; the font size is proportional to it
};

/// Returns an SVG with the source words at the top, the target words at the left, a square for each weight, from black
/// (0) to white (1) as in the paper, and the scale below. Each square has its words and its weight as a tooltip. Words
/// that are too long for the margin end in an ellipsis and have the whole word as a tooltip.
///
/// The SVG can be written to a file, or embedded unchanged in an HTML page, also several times: it has no ids, no style
/// sheet, no script and no XML declaration. It scales (viewBox) and is never wider than its container. On a dark page
/// it keeps its dark letters on white paper, because black and white have a meaning in it; a page can override the
/// colours with the CSS variables --figure-paper, --figure-ink and --figure-line on the SVG or around it.
///
/// Words may hold any bytes: invalid UTF-8 and characters that are not allowed in XML are drawn as U+FFFD. Throws Error
/// if the number of weights is not source x target, or a weight is not from 0 to 1. Thread-safe.
std::string heat_map(const AttentionMatrix& alignment, const PictureOptions& options = {});

}  // namespace rnnsearch::report

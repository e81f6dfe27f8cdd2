// The soft alignment of one sentence as a picture: figure 3 of Bahdanau, Cho and Bengio (2015).
#pragma once

#include <string>
#include <vector>

namespace rnnsearch::report {

/// One pair of sentences and how much the decoder looked at each source word when it wrote each target word.
struct AttentionMatrix {
  std::vector<std::string> source;  // [Tx] words, </s> where there is one
  std::vector<std::string> target;  // [Ty]
  std::vector<double> weights;      // [Ty, Tx] row-major, each from 0 to 1
};

struct PictureOptions {
  std::string title{};  // what readers of the screen are told, and the tooltip; empty: says how many words there are
  double cell_pixels = 18;  // side of a square; letters grow with it
};

/// An SVG: source words across the top, target words down the left, one square a weight, from black (0) to white (1) as
/// in the paper, and below them the scale. Each square tells its words and its weight as a tooltip. Words that are too
/// long for their margin end in an ellipsis, and are told whole as a tooltip.
///
/// To be written to a file, or into an HTML page as it is, many in one page: it has no ids, no style sheet, no script,
/// and no XML declaration. It scales (viewBox) and is never wider than what is around it. On a dark page it stays what
/// it is on a light one, dark letters on white paper, because its squares mean black and white; a page that wants
/// otherwise sets --figure-paper, --figure-ink and --figure-line (colours in CSS) on it or around it.
///
/// Words may hold anything: what is no UTF-8, or no character of XML, is drawn as U+FFFD. Throws Error when there are
/// not source x target weights, or one is no number from 0 to 1. Any thread.
std::string heat_map(const AttentionMatrix& alignment, const PictureOptions& options = {});

}  // namespace rnnsearch::report

// Pictures of the soft alignment of a sentence: squares like figure 3 of Bahdanau, Cho and Bengio (2015), or bars.
#pragma once

#include <string>
#include <vector>

namespace pugi {
class xml_node;
}

namespace rnnsearch::report {

/// A pair of sentences and the attention weight of each source word for each target word.
struct AttentionMatrix {
  std::vector<std::string> source;  // [Tx] words, including </s> if there is one
  std::vector<std::string> target;  // [Ty]
  std::vector<double> weights;      // [Ty, Tx] row-major, each from 0 to 1
};

/// Adds an SVG with the source words at the top, the target words at the left, a square for each weight, from black
/// (0) to white (1) as in the paper, and the scale below. Each square has its words and its weight as a tooltip. Words
/// that are too long for the margin end in an ellipsis and have the whole word as a tooltip.
///
/// A page may hold several: it has no ids, no style and no script. Its colours are attributes, which the style sheet of
/// a page can override by the classes of the elements: paper, source, target, scale and frame.
///
/// Words may hold any bytes: invalid UTF-8 and characters that are not allowed in XML are drawn as U+FFFD. Thread-safe.
/// REQUIRES: source x target weights, all from 0 to 1. title: for screen readers, and as tooltip.
void add_heat_map(pugi::xml_node parent, const AttentionMatrix& alignment, const std::string& title = "");
/// The same as an SVG file.
std::string heat_map(const AttentionMatrix& alignment, const std::string& title = "");

/// Returns an SVG file with a row for each decoding step. On the left are the weights over the source words as bars; on
/// the right the fixed context of RNNencdec is drawn in the same way: it is the state of the encoder after the last
/// source word, so this word has all the weight at every step. For words, threads and the title see add_heat_map.
std::string attention_bars(const AttentionMatrix& alignment, const std::string& title = "");

/// The matrix as text for a terminal: the source words from top to bottom above it, the target words at the left, and a
/// cell of two columns for each weight, darker for a larger one. Words are cut after 16 columns. REQUIRES: a weight for
/// each pair of words.
std::string terminal_heat_map(const AttentionMatrix& alignment);

}  // namespace rnnsearch::report

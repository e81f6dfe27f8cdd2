// Draws the attention weights of each decoding step as bars, beside the fixed context of a decoder without attention.
#pragma once

#include <string>

#include "rnnsearch/report/heat_map.h"

namespace rnnsearch::report {

/// Returns an SVG file with a row for each decoding step. On the left are the weights over the source words as bars; on
/// the right the fixed context of RNNencdec is drawn in the same way: it is the state of the encoder after the last
/// source word, so this word has all the weight at every step. For words, errors and threads see heat_map.
std::string attention_bars(const AttentionMatrix& alignment, const PictureOptions& options = {});

}  // namespace rnnsearch::report

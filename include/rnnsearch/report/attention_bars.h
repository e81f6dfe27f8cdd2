// What the decoder looked at, step by step, as bars; and what a decoder without attention has instead.
#pragma once

#include <string>

#include "rnnsearch/report/heat_map.h"

namespace rnnsearch::report {

/// An SVG with a row a decoding step: on the left the weights over the source words as bars, on the right the fixed
/// context of RNNencdec drawn alike: the encoder's state after the last source word, so all weight on that one, at
/// every step. Otherwise as heat_map: colours (of the bars --figure-bar), embedding, words, errors, threads.
std::string attention_bars(const AttentionMatrix& alignment, const PictureOptions& options = {});

}  // namespace rnnsearch::report

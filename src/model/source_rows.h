// A batch of source sentences in two orders: packed, as the encoder reads it, and sentence by sentence, as the decoder
// looks at it.
#pragma once

#include <cstdint>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/layers/packing.h"
#include "rnnsearch/model/options.h"

namespace rnnsearch::model {

struct SourceRows {
  layers::Packing packing;
  std::vector<WordId> words;                                 // of the packed rows
  std::vector<std::uint32_t> packed_row;                     // [words] the packed row of each row sentence by sentence
  std::vector<std::uint32_t> encoded_row;                    // its inverse
  std::vector<std::uint32_t> first_word_row, last_word_row;  // [B] packed rows, by the caller's sentence

  /// With options.source_start, packed_row and encoded_row are empty, because they serve attention alone, which does
  /// not look at <s>. offsets [B + 1]: where each sentence begins, sentence by sentence, Tx rows each, <s> not counted.
  void lay_out(const Sentences& source, const ModelOptions& options, std::vector<std::size_t>& offsets);
};

}  // namespace rnnsearch::model

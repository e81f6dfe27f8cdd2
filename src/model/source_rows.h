// A batch of source sentences in two orders: packed for the encoder, and sentence by sentence for the attention of the
// decoder.
#pragma once

#include <cstdint>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/layers/packing.h"
#include "rnnsearch/model/options.h"

namespace rnnsearch::model {

struct SourceRows {
  layers::Packing packing;
  std::vector<WordId> words;               // the words of the packed rows
  std::vector<std::uint32_t> packed_row;   // [words] the packed row of each sentence-by-sentence row
  std::vector<std::uint32_t> encoded_row;  // [words] the inverse of packed_row
  // [B] packed rows of the first and the last word that the encoder reads, by the caller's sentence
  std::vector<std::uint32_t> first_word_row, last_word_row;

  /// Computes the members. Packed rows are in the order in which the encoder reads, sentence-by-sentence rows in that
  /// of the sentence; the two differ with options.reverse_source. With options.source_start, packed_row and encoded_row
  /// are empty, because only attention uses them, and attention does not read <s>. offsets: out, [B + 1], the first row
  /// of each sentence in sentence-by-sentence order; <s> is not counted.
  void lay_out(const Sentences& source, const ModelOptions& options, std::vector<std::size_t>& offsets);
};

}  // namespace rnnsearch::model

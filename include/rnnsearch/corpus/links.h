// Word alignments of training pairs, as aligners such as GIZA++ and fast_align write them (Pharaoh's format).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/corpus/text_pipeline.h"

namespace rnnsearch::corpus {

/// Appends to `links` the links of a line "0-0 1-2 ..." as positions: source word, target word, source word, target
/// word, ..., counted from 0, in ascending order and each link once. A link between words becomes the links between
/// each piece of the one and each piece of the other, as OpusTrainer maps links to other tokens. Returns what is wrong
/// with the line for a pair of these words, or an empty text: "'1:2' is not a link such as 0-0" or "the link 7-0 is past
/// the 5 words of the source".
std::string read_links(std::string_view line, std::span<const WordPieces> source, std::span<const WordPieces> target,
                       std::vector<std::uint32_t>& links);

/// The pieces of so many words that are not split.
std::vector<WordPieces> whole_words(std::size_t words);

}  // namespace rnnsearch::corpus

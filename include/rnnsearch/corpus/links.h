// Word alignments of training pairs, as aligners such as GIZA++ and fast_align write them (Pharaoh's format).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rnnsearch::corpus {

/// Appends to `links` the positions of a line "0-0 1-2 ...": source word, target word, source word, target word, ...,
/// counted from 0, in ascending order and each link once. Returns what is wrong with the line for a pair of so many
/// words, or an empty text: "'1:2' is not a link such as 0-0" or "the link 7-0 is past the 5 words of the source".
std::string read_links(std::string_view line, std::size_t source_words, std::size_t target_words,
                       std::vector<std::uint32_t>& links);

}  // namespace rnnsearch::corpus

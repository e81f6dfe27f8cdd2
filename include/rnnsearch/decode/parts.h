// Where a line that is too long for a search is split.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rnnsearch::decode {

/// Splits a line into parts of at most `longest` words, and returns the end of each: the number of the line's words in
/// it and the parts before. A line that is short enough, or empty, is one part, and so is every line if `longest` is 0.
///
/// A part is as long as possible and ends where a sentence ends: after a word that ends with . ! ? or such a mark of
/// another script, and after the closing quotation marks and brackets that follow. If no sentence ends within `longest`
/// words, the part has that many. Words are those of any text pipeline: joiner marks and spaces of subwords do not hide
/// a mark.
std::vector<std::size_t> part_ends(std::span<const std::string> words, std::size_t longest);

}  // namespace rnnsearch::decode

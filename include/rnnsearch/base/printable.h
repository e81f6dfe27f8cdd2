// Makes untrusted text safe to print on a terminal, and arranges text in columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rnnsearch {

/// Returns the text as one line of valid UTF-8 without control characters: line ends and tabs become spaces, and other
/// control characters, characters that change the direction of what follows, and bytes that are not UTF-8 are written
/// like "\x1b". Use it for text from files of unknown origin.
std::string printable(std::string_view text);

/// The columns of a terminal that the text takes, as wcwidth counts them: two for wide East Asian characters, none for
/// combining marks.
std::size_t columns_of(std::string_view text);
/// The text with spaces behind it (left) or before it (right), so that it takes at least so many columns.
std::string left(const std::string& text, std::size_t columns);
std::string right(const std::string& text, std::size_t columns);
/// The longest beginning of the text that takes at most so many columns.
std::string cut(const std::string& text, std::size_t columns);

}  // namespace rnnsearch

// Makes untrusted text safe to print on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace rnnsearch {

/// Returns the text as one line of valid UTF-8 without control characters: line ends and tabs become spaces, and other
/// control characters and bytes that are not UTF-8 are written like "\x1b". Use it for text from files of unknown
/// origin.
std::string printable(std::string_view text);

/// The text without the beginning of a UTF-8 character whose end is missing.
std::string_view whole_characters(std::string_view text);

}  // namespace rnnsearch

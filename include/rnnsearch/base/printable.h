// Makes untrusted text safe to print on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace rnnsearch {

/// Returns the text as one line without control characters: line ends and tabs become spaces, and the bytes of other
/// control characters are written like "\x1b". Use it for text from files of unknown origin and for text that is quoted
/// in an error.
std::string printable(std::string_view text);

}  // namespace rnnsearch

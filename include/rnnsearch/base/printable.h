// Text that a terminal shows and does not obey.
#pragma once

#include <string>
#include <string_view>

namespace rnnsearch {

/// One line: line ends and tabs become spaces, and the bytes of other control characters "\x1b". For whatever was read
/// from a file that somebody sent, or is quoted in an error.
std::string printable(std::string_view text);

}  // namespace rnnsearch

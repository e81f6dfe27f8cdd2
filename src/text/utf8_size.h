// The size of a UTF-8 character, from its first byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rnnsearch::text {

/// The number of bytes of the first character of `text`; 1 if the byte cannot start a character. REQUIRES: `text` is
/// not empty.
inline std::size_t utf8_size(std::string_view text) {
  const auto first = static_cast<std::uint8_t>(text.front());
  const std::size_t size = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  return std::min(size, text.size());
}

}  // namespace rnnsearch::text

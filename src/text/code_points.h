// Reads and writes UTF-8, one code point at a time.
#pragma once

#include <unicode/utf8.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rnnsearch/base/printable.h"

namespace rnnsearch::text {

/// A byte that is not valid UTF-8 is represented by an unpaired surrogate, this plus its value, as in Python's
/// surrogateescape. append_code_point writes the byte again.
inline constexpr UChar32 kInvalidByte = 0xDC00;

/// Returns the code point at `position` and moves `position` past it. REQUIRES: position < text.size().
inline UChar32 next_code_point(std::string_view text, std::size_t& position) {
  const auto first = static_cast<std::uint8_t>(text[position]);
  if (first < 0x80) {
    ++position;
    return first;
  }
  const char32_t character = next_character(text, position);
  return character == kNoCharacter ? kInvalidByte + first : static_cast<UChar32>(character);
}

inline void append_code_point(std::string& text, UChar32 code_point) {
  if (code_point < 0x80) {
    text.push_back(static_cast<char>(code_point));
  } else if (code_point > kInvalidByte && code_point <= kInvalidByte + 0xFF) {
    text.push_back(static_cast<char>(code_point - kInvalidByte));
  } else {
    char bytes[U8_MAX_LENGTH];
    std::size_t size = 0;
    U8_APPEND_UNSAFE(bytes, size, code_point);
    text.append(bytes, size);
  }
}

inline std::string utf8_of(std::u32string_view code_points) {
  std::string text;
  for (const char32_t c : code_points) append_code_point(text, static_cast<UChar32>(c));
  return text;
}

/// Python's str.isspace(): Unicode's White_Space property and the four information separators.
inline bool is_space(UChar32 c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

}  // namespace rnnsearch::text

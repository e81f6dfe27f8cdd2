#include "rnnsearch/base/utf8.h"

#include <array>
#include <cstdint>

namespace rnnsearch {

char32_t next_character(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])) : 0u;
  };
  const std::uint32_t first = byte(at);
  const std::size_t size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  std::uint32_t point = size < 2 ? first : first & (0xffu >> (size + 1));
  bool valid = size > 0 && first < 0xf5;
  for (std::size_t i = 1; i < size; ++i) {
    valid = valid && (byte(at + i) & 0xc0) == 0x80;
    point = point << 6 | (byte(at + i) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  valid = valid && point >= kLeast[size] && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
  at += valid ? size : 1;
  return valid ? static_cast<char32_t>(point) : kNoCharacter;
}

std::string_view whole_characters(std::string_view text) {
  std::size_t last = text.size();  // where the last character begins
  while (last > 0 && text.size() - last < 3 && is_trail_byte(text[last - 1])) --last;
  if (last == 0) return text;
  --last;
  return utf8_size(text[last]) > text.size() - last ? text.substr(0, last) : text;
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (static_cast<unsigned char>(text[at]) < 0x80) {  // most text: prepare checks every byte
      ++at;
    } else if (next_character(text, at) == kNoCharacter) {
      return begin;
    }
  }
  return std::nullopt;
}

}  // namespace rnnsearch

#include "rnnsearch/base/printable.h"

#include <algorithm>

namespace rnnsearch {
namespace {

unsigned char byte_of(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

/// The bytes of the UTF-8 character with which the text begins; 0 if it begins with none. Overlong forms, surrogates
/// and values beyond U+10FFFF are none.
std::size_t size_of_character(std::string_view text) {
  const unsigned char first = byte_of(text, 0), second = byte_of(text, 1);
  if (first < 0x80) return 1;
  const std::size_t size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  const unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (size == 0 || second < low || second > high) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if ((byte_of(text, i) & 0xc0) != 0x80) return 0;
  }
  return size;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string line;
  const auto add_number = [&line](unsigned char byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    line.append("\\x").append({kDigits[byte / 16], kDigits[byte % 16]});
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const unsigned char byte = byte_of(rest, 0), next = byte_of(rest, 1);
    const std::size_t size = size_of_character(rest);
    if (byte == '\n' || byte == '\t') {
      line += ' ';
    } else if (size == 0 || byte < 0x20 || byte == 0x7f) {
      add_number(byte);
    } else if (byte == 0xc2 && next < 0xa0) {  // U+0080 to U+009F, of which U+009B starts escapes too
      add_number(byte);
      add_number(next);
    } else {
      line += rest.substr(0, size);
    }
    i += std::max<std::size_t>(size, 1);
  }
  return line;
}

std::string_view whole_characters(std::string_view text) {
  std::size_t behind = 0;  // continuation bytes at the end
  const auto byte = [&](std::size_t from_end) { return static_cast<unsigned char>(text[text.size() - from_end]); };
  while (behind < std::min<std::size_t>(text.size(), 3) && (byte(behind + 1) & 0xc0) == 0x80) ++behind;
  if (behind == text.size()) return text;
  const unsigned char first = byte(behind + 1);
  const std::size_t wanted = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  return wanted > behind ? text.substr(0, text.size() - behind - 1) : text;
}

}  // namespace rnnsearch

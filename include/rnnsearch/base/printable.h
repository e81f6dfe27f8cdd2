// Decodes UTF-8, makes untrusted text safe to print on a terminal, arranges text in columns, and formats numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rnnsearch {

/// What next_character returns for a byte that is not UTF-8.
inline constexpr char32_t kNoCharacter = 0xFFFFFFFF;
/// The code point at `at`, which is moved past it. Overlong forms, surrogates and values beyond U+10FFFF are not UTF-8.
/// REQUIRES: at < text.size().
char32_t next_character(std::string_view text, std::size_t& at);

/// Whether the byte continues a character that another byte begins.
inline bool is_trail_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The number of bytes of a character that begins with this byte; 1 if it cannot begin a character.
inline std::size_t utf8_size(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// The text without the beginning of a UTF-8 character whose end is missing.
std::string_view whole_characters(std::string_view text);

/// The position of the first byte that is not UTF-8, if there is one.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

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

// Numbers as people read them, independently of the locale of the process.

/// The number with this many digits after the decimal point, such as "3.14".
std::string fixed(double value, int digits);
/// "1,234,567"
std::string grouped(std::uint64_t number);
/// A decimal number with commas between the thousands before its point: "-1,234.5678".
std::string with_commas(const std::string& number);
/// "1 rank", "2 ranks": a count with its noun, to which a plural adds an s.
std::string counted(std::uint64_t count, const char* noun);
/// "12.34%". A share of nothing is 0%.
std::string percent(std::uint64_t part, std::uint64_t whole);
/// "1h05m", "12m30s", "45s"
std::string duration(double seconds);
/// "2026-11-23T17:11:08Z": ISO 8601 in UTC, in whole seconds, since jq's `fromdate` reads no fractions.
std::string utc(std::time_t time);

/// Replaces every `from` in `text` by `to`, from left to right; replacements are not searched again.
/// std::string::replace in a loop would move the rest of the text for each replacement. REQUIRES: `from` is not empty.
template <class Char>
void replace_all(std::basic_string<Char>& text, std::type_identity_t<std::basic_string_view<Char>> from,
                 std::type_identity_t<std::basic_string_view<Char>> to) {
  std::size_t at = text.find(from);
  if (at == text.npos) return;
  std::basic_string<Char> result;
  std::size_t copied = 0;
  for (; at != text.npos; at = text.find(from, copied)) {
    result.append(text, copied, at - copied).append(to);
    copied = at + from.size();
  }
  result.append(text, copied);
  text = std::move(result);
}

}  // namespace rnnsearch

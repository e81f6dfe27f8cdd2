// Makes untrusted text safe to print on a terminal, and arranges text in columns.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace rnnsearch {

/// What next_character returns for a byte that is not UTF-8.
inline constexpr char32_t kNoCharacter = 0xFFFFFFFF;
/// The code point at `at`, which is moved past it. Overlong forms, surrogates and values beyond U+10FFFF are not UTF-8.
/// REQUIRES: at < text.size().
char32_t next_character(std::string_view text, std::size_t& at);

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

/// The text without the beginning of a UTF-8 character whose end is missing.
std::string_view whole_characters(std::string_view text);

/// The position of the first byte of an ill-formed UTF-8 sequence, if there is one. Overlong forms, surrogates and
/// values past U+10FFFF are ill-formed.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

}  // namespace rnnsearch

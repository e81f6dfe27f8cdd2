// UTF-8 text: validity, white space, case.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rnnsearch::text {

/// Byte position of the first byte that is not valid UTF-8 (overlong forms, surrogates and values past U+10FFFF
/// included): where the ill-formed sequence begins.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// Splits at white space as Python's str.split() does: the white space of Unicode and U+001C to U+001F. No empty words.
std::vector<std::string> split_words(std::string_view text);
/// The same words as views into `text`.
std::vector<std::string_view> split_views(std::string_view text);
/// Python's str.rstrip(): `text` without the white space at its end.
std::string_view strip_right(std::string_view text);

/// Its code points; a byte that is not valid UTF-8 is an unpaired surrogate, U+DC00 and its value.
std::u32string code_points(std::string_view text);

/// ICU's full lower-casing, root locale: what Python's str.lower() does. Valid UTF-8 in and out.
std::string lowercase(std::string_view text);

/// Unicode's normal forms: C composes, so that an e and its accent are one character; KC makes one of characters that
/// mean the same, too: full-width letters, ligatures, superscripts.
enum class NormalForm { kC, kKC };

/// In that form, by ICU. Valid UTF-8 in and out.
std::string normalized(std::string_view text, NormalForm form);

}  // namespace rnnsearch::text

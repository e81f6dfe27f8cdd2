// UTF-8 text: validity, white space, case.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rnnsearch::text {

/// The position of the first byte of an ill-formed UTF-8 sequence, if there is one. Overlong forms, surrogates and
/// values past U+10FFFF are ill-formed.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// Splits at white space as Python's str.split() does: the white space of Unicode and U+001C to U+001F. No empty words.
std::vector<std::string> split_words(std::string_view text);
/// The same, as views into `text`.
std::vector<std::string_view> split_views(std::string_view text);
/// Python's str.rstrip(): `text` without the white space at its end.
std::string_view strip_right(std::string_view text);

/// The code points of the text. A byte that is not valid UTF-8 becomes an unpaired surrogate, U+DC00 plus its value.
std::u32string code_points(std::string_view text);

/// Lowercases with ICU's full case mapping in the root locale, which is what Python's str.lower() does. REQUIRES: valid
/// UTF-8.
std::string lowercase(std::string_view text);

/// Unicode's normal forms. C composes, so that an e and its accent become one character. KC also replaces compatible
/// characters such as full-width letters, ligatures and superscripts by their usual forms.
enum class NormalForm { kC, kKC };

/// Normalizes with ICU. REQUIRES: valid UTF-8.
std::string normalized(std::string_view text, NormalForm form);

/// "ICU 72.1": the library that is loaded.
std::string icu();

}  // namespace rnnsearch::text

// UTF-8 text: validity, white space, case, normal forms, scripts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/printable.h"

namespace rnnsearch::text {

using rnnsearch::first_invalid_utf8;

/// What stands in translated text for a word that the model does not know, U+2047. The tokenizers take it for a letter,
/// and no normalization changes it.
inline constexpr std::string_view kUnknownInText = "\u2047";
inline constexpr char32_t kUnknownCharacter = U'\u2047';

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

/// One script, or the scripts that a language is written in, by Unicode's Script property (UAX #24). Thread-safe.
class Script {
 public:
  /// name: the Unicode name of a script ("Cyrillic"), its ISO 15924 code ("Cyrl"), or the code of a language ("ru";
  /// "ja" stands for Han, Hiragana and Katakana). Throws Error for a name that ICU does not know.
  explicit Script(const std::string& name);

  struct Letters {
    std::size_t all = 0;        // all letters; digits, punctuation and symbols have no script and are not counted
    std::size_t of_script = 0;  // letters of this script
  };
  Letters count(std::string_view text) const;

 private:
  std::vector<char> member_;  // indexed by ICU's code of a script: whether it is included
};

}  // namespace rnnsearch::text

// Raw text to words and back, and the tokenisers that BLEU is defined over.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rnnsearch::text {

/// Byte position of the first byte that is not valid UTF-8 (overlong forms, surrogates and values past U+10FFFF included).
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// Splits at white space as Python's str.split() does (Unicode white space; no empty words).
std::vector<std::string> split_words(std::string_view text);

/// ICU's full lower-casing, root locale. Valid UTF-8 in and out.
std::string lowercase(std::string_view text);

/// The training tokeniser: splits as mteval-13a does, and after elisions (l' d' qu' ...), and keeps what it needs to undo
/// itself: a token that was written without a space before it begins with U+FFED, one without a space after it ends with it.
std::vector<std::string> tokenize_words(std::string_view line);
/// join(tokenize_words(x)) == x with every run of white space made one space and the ends trimmed, for every valid x.
std::string join_words(const std::vector<std::string>& words);

/// sacreBLEU's tokenisers, byte for byte: the result is one line of words separated by single spaces.
enum class BleuTokenizer { k13a, kIntl, kChar, kZh, kNone };
BleuTokenizer bleu_tokenizer_of(const std::string& name);  // "13a", "intl", "char", "zh", "none"; throws Error naming them
std::string name_of(BleuTokenizer tokenizer);
std::string tokenize_for_bleu(std::string_view line, BleuTokenizer tokenizer);

}  // namespace rnnsearch::text

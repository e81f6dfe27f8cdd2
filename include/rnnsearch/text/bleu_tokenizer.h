// The tokenisers that BLEU is defined over, byte for byte those of sacreBLEU 2.x (Post 2018).
#pragma once

#include <string>
#include <string_view>

namespace rnnsearch::text {

/// 13a: mteval-v13a, ASCII punctuation apart. intl: mteval-v14, Unicode punctuation and symbols apart. char: code
/// points apart. zh: Chinese characters and U+2001 to U+2A6D apart, the rest as 13a. none: the line as it
/// is.
enum class BleuTokenizer { k13a, kIntl, kChar, kZh, kNone };
BleuTokenizer bleu_tokenizer_of(
    const std::string& name);  // "13a", "intl", "char", "zh", "none"; throws Error naming them
std::string name_of(BleuTokenizer tokenizer);

/// The words are what split_words makes of the result (13a, intl and zh separate them by single spaces; char and none
/// keep the line's own white space, as sacreBLEU does). sacreBLEU strips white space from the line's end beforehand; so
/// must who wants its scores: strip_right (text/unicode.h). Valid UTF-8; bytes that are not pass through.
std::string tokenize_for_bleu(std::string_view line, BleuTokenizer tokenizer);

}  // namespace rnnsearch::text

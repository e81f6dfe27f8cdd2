// The BLEU tokenizers of sacreBLEU 2.x (Post 2018), byte for byte.
#pragma once

#include <string>
#include <string_view>

namespace rnnsearch::text {

/// 13a: mteval-v13a, which separates ASCII punctuation. intl: mteval-v14, which separates Unicode punctuation and
/// symbols. char: separates all code points. zh: separates Chinese characters and U+2001 to U+2A6D, the rest as 13a.
/// none: leaves the line unchanged.
enum class BleuTokenizer { k13a, kIntl, kChar, kZh, kNone };
/// Parses "13a", "intl", "char", "zh" or "none". Throws Error, naming these, for other names.
BleuTokenizer bleu_tokenizer_of(const std::string& name);
std::string name_of(BleuTokenizer tokenizer);

/// Tokenizes a line; split_words of the result gives the words. 13a, intl and zh separate words by single spaces; char
/// and none keep the white space of the line, as sacreBLEU does. sacreBLEU first strips white space from the end of the
/// line, so a caller that wants the same scores must call strip_right (text/unicode.h). Bytes that are not valid UTF-8
/// are copied.
std::string tokenize_for_bleu(std::string_view line, BleuTokenizer tokenizer);

}  // namespace rnnsearch::text

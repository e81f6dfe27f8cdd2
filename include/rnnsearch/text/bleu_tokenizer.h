// The BLEU tokenizers of sacreBLEU 2.x (Post 2018), byte for byte.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "rnnsearch/base/option.h"

namespace rnnsearch::text {

/// 13a: mteval-v13a, which separates ASCII punctuation. intl: mteval-v14, which separates Unicode punctuation and
/// symbols. char: separates all code points. zh: separates Chinese characters and U+2001 to U+2A6D, the rest as 13a.
/// none: leaves the line unchanged.
enum class BleuTokenizer { k13a, kIntl, kChar, kZh, kNone };
constexpr auto names_of(BleuTokenizer) {
  return std::array{Named{BleuTokenizer::k13a, "13a"}, Named{BleuTokenizer::kIntl, "intl"},
                    Named{BleuTokenizer::kChar, "char"}, Named{BleuTokenizer::kZh, "zh"},
                    Named{BleuTokenizer::kNone, "none"}};
}
using rnnsearch::name_of;

/// Tokenizes a line; split_words of the result gives the words. 13a, intl and zh separate words by single spaces; char
/// and none keep the white space of the line, as sacreBLEU does. sacreBLEU first strips white space from the end of the
/// line, so a caller that wants the same scores must call strip_right (text/unicode.h). Bytes that are not valid UTF-8
/// are copied.
std::string tokenize_for_bleu(std::string_view line, BleuTokenizer tokenizer);

}  // namespace rnnsearch::text

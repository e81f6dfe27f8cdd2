// Each pass below implements one regular expression of sacreBLEU, quoted beside it, as a scan from left to right.
// Matches do not overlap: a character that belongs to one match is not examined again in the same pass.
#include "rnnsearch/text/bleu_tokenizer.h"

#include <unicode/uchar.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/replace.h"
#include "rnnsearch/text/unicode.h"
#include "text/code_points.h"

namespace rnnsearch::text {
namespace {

std::string single_spaced(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (const std::string_view word : split_views(text)) {
    if (!line.empty()) line.push_back(' ');
    line.append(word);
  }
  return line;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_stop(char c) {
  return c == '.' || c == ',';
}

constexpr std::array<bool, 256> kApart = [] {
  std::array<bool, 256> apart{};
  for (const auto& [first, last] : {std::pair{'{', '~'}, {'[', '`'}, {' ', '&'}, {'(', '+'}, {':', '@'}, {'/', '/'}}) {
    for (int c = first; c <= last; ++c) apart[static_cast<std::size_t>(c)] = true;
  }
  return apart;
}();

// The language-dependent part of mteval-v13a. It works on bytes: the expressions name only ASCII characters, and of a
// longer character that matches [^0-9] only the byte next to the full stop matters.
std::string separate_western_punctuation(std::string_view line) {
  std::string text, next;
  text.reserve(2 * line.size());
  next.reserve(2 * line.size());
  for (const char c : line) {  // ([\{-\~\[-\` -\&\(-\+\:-\@\/]) -> " \1 "
    if (kApart[static_cast<unsigned char>(c)])
      text.append({' ', c, ' '});
    else
      text.push_back(c);
  }
  for (std::size_t i = 0; i < text.size(); ++i) {  // ([^0-9])([\.,]) -> "\1 \2 "
    next.push_back(text[i]);
    if (!is_digit(text[i]) && i + 1 < text.size() && is_stop(text[i + 1])) next.append({' ', text[++i], ' '});
  }
  text.clear();
  for (std::size_t i = 0; i < next.size(); ++i) {  // ([\.,])([^0-9]) -> " \1 \2"
    if (is_stop(next[i]) && i + 1 < next.size() && !is_digit(next[i + 1])) {
      text.append({' ', next[i], ' ', next[i + 1]});
      ++i;
    } else {
      text.push_back(next[i]);
    }
  }
  next.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {  // ([0-9])(-) -> "\1 \2 "
    next.push_back(text[i]);
    if (is_digit(text[i]) && i + 1 < text.size() && text[i + 1] == '-') next.append({' ', text[++i], ' '});
  }
  return single_spaced(next);
}

std::string tokenize_13a(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  if (text.find('&') != std::string::npos) {
    replace_all(text, "&quot;", "\"");
    replace_all(text, "&amp;", "&");
    replace_all(text, "&lt;", "<");
    replace_all(text, "&gt;", ">");
  }
  return separate_western_punctuation(" " + text + " ");
}

bool is_punctuation(UChar32 c) {
  return (U_GET_GC_MASK(c) & U_GC_P_MASK) != 0;
}
bool is_number(UChar32 c) {
  return (U_GET_GC_MASK(c) & U_GC_N_MASK) != 0;
}
bool is_symbol(UChar32 c) {
  return (U_GET_GC_MASK(c) & U_GC_S_MASK) != 0;
}

std::string tokenize_intl(std::string_view line) {
  std::vector<UChar32> text, next;
  text.reserve(line.size());
  for (std::size_t i = 0; i < line.size();) text.push_back(next_code_point(line, i));
  next.reserve(2 * text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {  // (\P{N})(\p{P}) -> "\1 \2 "
    next.push_back(text[i]);
    if (i + 1 < text.size() && is_punctuation(text[i + 1]) && !is_number(text[i])) {
      next.insert(next.end(), {' ', text[++i], ' '});
    }
  }
  text.clear();
  for (std::size_t i = 0; i < next.size(); ++i) {  // (\p{P})(\P{N}) -> " \1 \2"
    if (i + 1 < next.size() && is_punctuation(next[i]) && !is_number(next[i + 1])) {
      text.insert(text.end(), {' ', next[i], ' ', next[i + 1]});
      ++i;
    } else {
      text.push_back(next[i]);
    }
  }
  std::string result;
  result.reserve(2 * line.size());
  for (const UChar32 c : text) {  // (\p{S}) -> " \1 "
    const bool symbol = is_symbol(c);
    if (symbol) result.push_back(' ');
    append_code_point(result, c);
    if (symbol) result.push_back(' ');
  }
  return single_spaced(result);
}

std::string tokenize_char(std::string_view line) {
  std::string result;
  result.reserve(2 * line.size());
  for (std::size_t i = 0; i < line.size();) {
    if (i > 0) result.push_back(' ');
    append_code_point(result, next_code_point(line, i));
  }
  return result;
}

// The ranges of sacreBLEU's zh tokenizer in ascending order. It intends U+20000 to U+2A6D6, but writes "\u20000" and
// "\u2a6d6", which are two characters each, so it compares with U+2001 to U+2A6D: dashes, quotation marks and arrows,
// but none of the intended ideographs (mjpost/sacrebleu#298). This is reproduced, so that the scores agree.
constexpr std::pair<UChar32, UChar32> kChineseRanges[] = {
    {0x2001, 0x2A6D}, {0x2E80, 0x2EFF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x2FFF}, {0x3000, 0x303F},
    {0x3100, 0x312F}, {0x31A0, 0x31BF}, {0x31C0, 0x31EF}, {0x3200, 0x32FF}, {0x3300, 0x33FF},
    {0x3400, 0x4DB5}, {0x4E00, 0x9FA5}, {0x9FA6, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A},
    {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF},
};

bool is_chinese(UChar32 c) {
  if (c < kChineseRanges[0].first) return false;
  for (const auto& [first, last] : kChineseRanges) {
    if (c <= last) return c >= first;
  }
  return false;
}

std::string tokenize_zh(std::string_view line) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < line.size() && is_space(next_code_point(line, i));) first = i;
  line = strip_right(line.substr(first));
  std::string text;
  text.reserve(2 * line.size());
  for (std::size_t i = 0; i < line.size();) {
    const UChar32 c = next_code_point(line, i);
    const bool chinese = is_chinese(c);
    if (chinese) text.push_back(' ');
    append_code_point(text, c);
    if (chinese) text.push_back(' ');
  }
  return separate_western_punctuation(text);
}

}  // namespace

std::string tokenize_for_bleu(std::string_view line, BleuTokenizer tokenizer) {
  switch (tokenizer) {
    case BleuTokenizer::k13a:
      return tokenize_13a(line);
    case BleuTokenizer::kIntl:
      return tokenize_intl(line);
    case BleuTokenizer::kChar:
      return tokenize_char(line);
    case BleuTokenizer::kZh:
      return tokenize_zh(line);
    case BleuTokenizer::kNone:
      break;
  }
  return std::string(line);
}

}  // namespace rnnsearch::text

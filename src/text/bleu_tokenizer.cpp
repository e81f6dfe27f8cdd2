// Each pass below implements one regular expression of sacreBLEU, quoted beside it, as a scan from left to right.
// Matches do not overlap: a character that belongs to one match is not examined again in the same pass.
#include "rnnsearch/text/tokenizer.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include "rnnsearch/base/printable.h"
#include "rnnsearch/text/unicode.h"
#include "text/code_points.h"

namespace rnnsearch::text {
namespace {

std::string single_spaced(std::string_view text) { return fmt::to_string(fmt::join(split_views(text), " ")); }

// Of each two neighbours that match, left and right in turn, the pass puts spaces around one: "\1 \2 " (the right one)
// or " \1 \2" (the left one).
enum class Apart { kLeft, kRight };
template <class Text, class Left, class Right>
Text with_apart(const Text& text, Apart apart, const Left& left, const Right& right) {
  Text result;
  result.reserve(2 * text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool matches = i + 1 < text.size() && left(text[i]) && right(text[i + 1]);
    if (matches && apart == Apart::kLeft) result.push_back(' ');
    result.push_back(text[i]);
    if (!matches) continue;
    result.push_back(' ');
    result.push_back(text[++i]);
    if (apart == Apart::kRight) result.push_back(' ');
  }
  return result;
}

// Puts spaces around each character of the line that is such a one.
template <class Which>
std::string with_spaces_around(std::string_view line, const Which& which) {
  std::string result;
  result.reserve(2 * line.size());
  for (std::size_t i = 0; i < line.size();) {
    const UChar32 c = next_code_point(line, i);
    const bool apart = which(c);
    if (apart) result.push_back(' ');
    append_code_point(result, c);
    if (apart) result.push_back(' ');
  }
  return result;
}

// The language-dependent part of mteval-v13a. It works on bytes: the expressions name only ASCII characters, and of a
// longer character that matches [^0-9] only the byte next to the full stop matters. possessives: tercom's rule.
std::string separate_western_punctuation(std::string_view line, bool possessives = false) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_other = [&](char c) { return !is_digit(c); };
  const auto is_stop = [](char c) { return c == '.' || c == ','; };
  std::string text = with_spaces_around(line, [](UChar32 c) {  // ([\{-\~\[-\` -\&\(-\+\:-\@\/]) -> " \1 "
    return c >= ' ' && c <= '~' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
           c != '\'' && c != ',' && c != '-' && c != '.';
  });
  if (possessives) replace_all(text, "'s ", " 's ");
  text = with_apart(text, Apart::kRight, is_other, is_stop);  // ([^0-9])([\.,]) -> "\1 \2 "
  text = with_apart(text, Apart::kLeft, is_stop, is_other);   // ([\.,])([^0-9]) -> " \1 \2"
  return single_spaced(
      with_apart(text, Apart::kRight, is_digit, [](char c) { return c == '-'; }));  // ([0-9])(-) -> "\1 \2 "
}

// " line " without line ends and with the characters of XML's entities. hyphen: what a line end joins.
std::string plain_line(std::string_view line, std::string_view hyphen) {
  std::string text = fmt::format(" {} ", line);
  replace_all(text, hyphen, "");
  replace_all(text, "\n", " ");
  if (text.find('&') == std::string::npos) return text;
  for (const auto& [entity, character] : {std::pair{"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}})
    replace_all(text, entity, character);
  return text;
}

std::string tokenize_13a(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  return separate_western_punctuation(plain_line(text, "-\n"));
}

bool has_type(char32_t c, std::uint32_t types) { return (U_GET_GC_MASK(static_cast<UChar32>(c)) & types) != 0; }

std::string tokenize_intl(std::string_view line) {
  const auto is_punctuation = [](char32_t c) { return has_type(c, U_GC_P_MASK); };
  const auto is_no_number = [](char32_t c) { return !has_type(c, U_GC_N_MASK); };
  std::u32string text = code_points(line);
  text = with_apart(text, Apart::kRight, is_no_number, is_punctuation);  // (\P{N})(\p{P}) -> "\1 \2 "
  text = with_apart(text, Apart::kLeft, is_punctuation, is_no_number);   // (\p{P})(\P{N}) -> " \1 \2"
  return single_spaced(
      with_spaces_around(utf8_of(text), [](UChar32 c) { return (U_GET_GC_MASK(c) & U_GC_S_MASK) != 0; }));
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
  return separate_western_punctuation(with_spaces_around(line, is_chinese));
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

std::string normalize_for_ter(std::string_view line) {
  return separate_western_punctuation(plain_line(line, "\n-"), true);
}

}  // namespace rnnsearch::text

#include "rnnsearch/text/unicode.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/uversion.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "rnnsearch/base/error.h"
#include "text/code_points.h"

namespace rnnsearch::text {

std::vector<std::string_view> split_views(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t word = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    if (!is_space(next_code_point(text, i))) continue;
    if (start > word) words.push_back(text.substr(word, start - word));
    word = i;
  }
  if (text.size() > word) words.push_back(text.substr(word));
  return words;
}

std::vector<std::string> split_words(std::string_view text) {
  const std::vector<std::string_view> views = split_views(text);
  return {views.begin(), views.end()};
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    std::size_t last = text.size() - 1;  // the start of the last code point, if it has at most four bytes
    for (int i = 0; i < 3 && last > 0 && U8_IS_TRAIL(static_cast<std::uint8_t>(text[last])); ++i) --last;
    std::size_t end = last;
    if (!is_space(next_code_point(text, end)) || end != text.size()) break;
    text = text.substr(0, last);
  }
  return text;
}

std::u32string code_points(std::string_view text) {
  std::u32string result;
  for (std::size_t at = 0; at < text.size();) result.push_back(static_cast<char32_t>(next_code_point(text, at)));
  return result;
}

std::string lowercase(std::string_view text) {
  std::string lower;
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    lower.assign(text);
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
  }
  UErrorCode status = U_ZERO_ERROR;
  icu::StringByteSink<std::string> sink(&lower, static_cast<std::int32_t>(text.size()));
  icu::CaseMap::utf8ToLower("", 0, icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())), sink, nullptr,
                            status);
  if (U_FAILURE(status))
    throw Error("text: ICU cannot lower-case a line of {} bytes: {}", text.size(), u_errorName(status));
  return lower;
}

namespace {

// The number of characters between two normalization boundaries up to which ICU is used. ICU sorts the marks after a
// letter by insertion, which takes quadratic time, and Unicode does not limit their number.
constexpr std::size_t kManyMarks = 64;

bool has_many_marks(std::string_view text, const icu::Normalizer2& normalizer) {
  if (text.size() <= kManyMarks) return false;
  std::size_t marks = 0;
  for (std::size_t i = 0; i < text.size();) {
    marks = normalizer.hasBoundaryBefore(next_code_point(text, i)) ? 0 : marks + 1;
    if (marks > kManyMarks) return true;
  }
  return false;
}

// The decomposition of the text, with the marks in canonical order (UAX #15, D108 and D109 of the Unicode Standard), in
// time n log n.
std::string decomposed(std::string_view text, const icu::Normalizer2& normalizer) {
  struct Character {
    UChar32 code_point;
    std::uint8_t mark;  // canonical combining class; 0 for characters other than marks
  };
  std::vector<Character> characters;
  for (std::size_t i = 0; i < text.size();) {
    const UChar32 c = next_code_point(text, i);
    icu::UnicodeString parts;
    if (!normalizer.getDecomposition(c, parts)) parts.setTo(c);
    for (std::int32_t k = 0; k < parts.length(); k = parts.moveIndex32(k, 1)) {
      const UChar32 part = parts.char32At(k);
      characters.push_back({part, normalizer.getCombiningClass(part)});
    }
  }
  const auto by_class = [](const Character& a, const Character& b) { return a.mark < b.mark; };
  for (auto begin = characters.begin(); begin != characters.end();) {
    if (begin->mark == 0) {
      ++begin;
      continue;
    }
    const auto end = std::find_if(begin, characters.end(), [](const Character& c) { return c.mark == 0; });
    std::stable_sort(begin, end, by_class);
    begin = end;
  }
  std::string result;
  for (const Character& c : characters) append_code_point(result, c.code_point);
  return result;
}

}  // namespace

std::string normalized(std::string_view text, NormalForm form) {
  if (const std::size_t first = text.find(kUnknownInText); form == NormalForm::kKC && first != text.npos) {
    std::string result;  // KC would make two question marks of the unknown word
    for (std::size_t at = first; at != text.npos; at = text.find(kUnknownInText)) {
      result.append(normalized(text.substr(0, at), form)).append(kUnknownInText);
      text.remove_prefix(at + kUnknownInText.size());
    }
    return result + normalized(text, form);
  }
  UErrorCode status = U_ZERO_ERROR;
  const bool canonical = form == NormalForm::kC;
  const icu::Normalizer2* const normalizer =
      canonical ? icu::Normalizer2::getNFCInstance(status) : icu::Normalizer2::getNFKCInstance(status);
  std::string ordered, result;
  if (U_SUCCESS(status) && has_many_marks(text, *normalizer)) {
    const icu::Normalizer2* const decomposer =
        canonical ? icu::Normalizer2::getNFDInstance(status) : icu::Normalizer2::getNFKDInstance(status);
    if (U_SUCCESS(status)) text = ordered = decomposed(text, *decomposer);
  }
  const icu::StringPiece piece(text.data(), static_cast<std::int32_t>(text.size()));
  if (U_SUCCESS(status) && normalizer->isNormalizedUTF8(piece, status)) return std::string(text);
  if (U_SUCCESS(status)) {
    icu::StringByteSink<std::string> sink(&result, static_cast<std::int32_t>(text.size()));
    normalizer->normalizeUTF8(0, piece, sink, nullptr, status);
  }
  if (U_FAILURE(status))
    throw Error("text: ICU cannot normalise a line of {} bytes: {}", text.size(), u_errorName(status));
  return result;
}

std::string icu() {
  UVersionInfo version;
  u_getVersion(version);
  return fmt::format("ICU {}.{}", int{version[0]}, int{version[1]});
}

namespace {

// Codes that no character has: the scripts that they stand for; none of those that are no script.
const std::map<UScriptCode, std::vector<UScriptCode>> kSeveral{
    {USCRIPT_COMMON, {}},
    {USCRIPT_INHERITED, {}},
    {USCRIPT_UNKNOWN, {}},
    {USCRIPT_INVALID_CODE, {}},
    {USCRIPT_SIMPLIFIED_HAN, {USCRIPT_HAN}},
    {USCRIPT_TRADITIONAL_HAN, {USCRIPT_HAN}},
    {USCRIPT_HAN_WITH_BOPOMOFO, {USCRIPT_HAN, USCRIPT_BOPOMOFO}},
    {USCRIPT_JAPANESE, {USCRIPT_HAN, USCRIPT_HIRAGANA, USCRIPT_KATAKANA}},
    {USCRIPT_KOREAN, {USCRIPT_HANGUL, USCRIPT_HAN}}};

}  // namespace

Script::Script(const std::string& name) : member_(USCRIPT_CODE_LIMIT, 0) {
  std::array<UScriptCode, 8> codes{};
  UErrorCode status = U_ZERO_ERROR;
  const std::int32_t count = uscript_getCode(name.c_str(), codes.data(), codes.size(), &status);
  const auto refuse = [&] {
    throw Error(
        "there is no script '{}'; give the name or code of a script, such as Cyrillic or Cyrl, or the code of a "
        "language, such as ru",
        name);
  };
  if (name.empty() || U_FAILURE(status) || count == 0) refuse();
  for (std::int32_t i = 0; i < count; ++i) {
    std::vector<UScriptCode> scripts{codes[static_cast<std::size_t>(i)]};
    if (const auto several = kSeveral.find(scripts.front()); several != kSeveral.end()) scripts = several->second;
    if (scripts.empty()) refuse();
    for (const UScriptCode script : scripts) member_[static_cast<std::size_t>(script)] = 1;
  }
}

Script::Letters Script::count(std::string_view text) const {
  Letters letters;
  for (std::size_t at = 0; at < text.size();) {
    const UChar32 c = next_code_point(text, at);
    UScriptCode script = USCRIPT_LATIN;
    if (c < 0x80) {
      if ((c | 0x20) < 'a' || (c | 0x20) > 'z') continue;
    } else {
      if (!u_isalpha(c)) continue;
      UErrorCode status = U_ZERO_ERROR;
      script = uscript_getScript(c, &status);
      if (U_FAILURE(status) || script == USCRIPT_COMMON || script == USCRIPT_INHERITED) continue;
    }
    ++letters.all;
    letters.of_script += static_cast<std::size_t>(member_[static_cast<std::size_t>(script)]);
  }
  return letters;
}

}  // namespace rnnsearch::text

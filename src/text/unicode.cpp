#include "rnnsearch/text/unicode.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/normalizer2.h>

#include <algorithm>

#include "rnnsearch/base/error.h"
#include "text/code_points.h"

namespace rnnsearch::text {

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    const UChar32 c = next_code_point(text, i);
    if (U_IS_SURROGATE(c)) return start;
  }
  return std::nullopt;
}

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
    std::size_t last = text.size() - 1;  // the beginning of the last code point, if it is one of at most four bytes
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
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
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
  if (U_FAILURE(status)) {
    throw Error(text_of("text: ICU cannot lower-case a line of ", text.size(), " bytes: ", u_errorName(status)));
  }
  return lower;
}

std::string normalized(std::string_view text, NormalForm form) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* const normalizer =
      form == NormalForm::kC ? icu::Normalizer2::getNFCInstance(status) : icu::Normalizer2::getNFKCInstance(status);
  std::string result;
  const icu::StringPiece piece(text.data(), static_cast<std::int32_t>(text.size()));
  if (U_SUCCESS(status) && normalizer->isNormalizedUTF8(piece, status)) return std::string(text);
  if (U_SUCCESS(status)) {
    icu::StringByteSink<std::string> sink(&result, static_cast<std::int32_t>(text.size()));
    normalizer->normalizeUTF8(0, piece, sink, nullptr, status);
  }
  if (U_FAILURE(status)) {
    throw Error(text_of("text: ICU cannot normalise a line of ", text.size(), " bytes: ", u_errorName(status)));
  }
  return result;
}

}  // namespace rnnsearch::text

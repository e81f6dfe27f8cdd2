#include "rnnsearch/text/script.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <array>
#include <map>

#include "rnnsearch/base/error.h"
#include "text/code_points.h"

namespace rnnsearch::text {
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

#include "rnnsearch/text/script.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <array>
#include <initializer_list>

#include "rnnsearch/base/error.h"
#include "text/code_points.h"

namespace rnnsearch::text {

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
  const auto add = [&](std::initializer_list<UScriptCode> some) {
    for (const UScriptCode code : some) member_[static_cast<std::size_t>(code)] = 1;
  };
  for (std::int32_t i = 0; i < count; ++i) {
    // These codes stand for several scripts, and no character has them.
    switch (const UScriptCode code = codes[static_cast<std::size_t>(i)]) {
      case USCRIPT_COMMON:
      case USCRIPT_INHERITED:
      case USCRIPT_UNKNOWN:
      case USCRIPT_INVALID_CODE:
        refuse();
        break;
      case USCRIPT_SIMPLIFIED_HAN:
      case USCRIPT_TRADITIONAL_HAN:
        add({USCRIPT_HAN});
        break;
      case USCRIPT_HAN_WITH_BOPOMOFO:
        add({USCRIPT_HAN, USCRIPT_BOPOMOFO});
        break;
      case USCRIPT_JAPANESE:
        add({USCRIPT_HAN, USCRIPT_HIRAGANA, USCRIPT_KATAKANA});
        break;
      case USCRIPT_KOREAN:
        add({USCRIPT_HANGUL, USCRIPT_HAN});
        break;
      default:
        add({code});
    }
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

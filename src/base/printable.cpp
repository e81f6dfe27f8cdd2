#include "rnnsearch/base/printable.h"

#include <fmt/core.h>
#include <locale.h>
#include <wchar.h>

#include <algorithm>

#include "rnnsearch/base/utf8.h"

namespace rnnsearch {
namespace {

struct Extent {
  std::size_t bytes = 0, columns = 0;
};

/// The longest beginning of the text that takes at most so many columns.
Extent extent_of(std::string_view text, std::size_t most) {
  static const ::locale_t kUnicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const ::locale_t former = kUnicode == nullptr ? nullptr : ::uselocale(kUnicode);
  Extent extent;
  for (std::size_t at = 0; at < text.size(); extent.bytes = at) {
    const int width = ::wcwidth(static_cast<wchar_t>(next_character(text, at)));
    const std::size_t columns = extent.columns + (width < 0 ? 1 : static_cast<std::size_t>(width));
    if (columns > most) break;
    extent.columns = columns;
  }
  if (former != nullptr) ::uselocale(former);
  return extent;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const std::size_t begin = at;
    const char32_t c = next_character(text, at);
    const std::string_view character = rest.substr(0, at - begin);
    if (c == '\n' || c == '\t' || c == 0x2028 || c == 0x2029) {
      line += ' ';
    } else if (c == kNoCharacter || c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
               (c >= 0x2066 && c <= 0x2069)) {  // U+009B starts escapes, too; the last two reverse what follows
      for (const char part : character) line += fmt::format("\\x{:02x}", static_cast<unsigned char>(part));
    } else {
      line += character;
    }
  }
  return line;
}

std::string cut(const std::string& text, std::size_t columns) {
  return text.substr(0, extent_of(text, columns).bytes);
}

std::size_t columns_of(std::string_view text) {
  return extent_of(text, static_cast<std::size_t>(-1)).columns;
}

std::string left(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, columns_of(text)), ' ');
}

std::string right(const std::string& text, std::size_t columns) {
  return std::string(columns - std::min(columns, columns_of(text)), ' ') + text;
}

}  // namespace rnnsearch

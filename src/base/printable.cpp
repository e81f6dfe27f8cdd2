#include "rnnsearch/base/printable.h"

namespace rnnsearch {

std::string printable(std::string_view text) {
  std::string line;
  const auto add_number = [&line](unsigned char byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    line.append("\\x").append({kDigits[byte / 16], kDigits[byte % 16]});
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (byte == '\n' || byte == '\t') {
      line += ' ';
    } else if (byte < 0x20 || byte == 0x7f) {
      add_number(byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {  // U+0080 to U+009F, of which U+009B starts escapes too
      add_number(byte);
      add_number(static_cast<unsigned char>(next));
      ++i;
    } else {
      line += text[i];
    }
  }
  return line;
}

}  // namespace rnnsearch

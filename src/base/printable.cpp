#include "rnnsearch/base/printable.h"

#include <fmt/chrono.h>
#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <cmath>

#include "rnnsearch/base/error.h"

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

char32_t next_character(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])) : 0u;
  };
  const std::uint32_t first = byte(at);
  const std::size_t size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  std::uint32_t point = size < 2 ? first : first & (0xffu >> (size + 1));
  bool valid = size > 0 && first < 0xf5;
  for (std::size_t i = 1; i < size; ++i) {
    valid = valid && (byte(at + i) & 0xc0) == 0x80;
    point = point << 6 | (byte(at + i) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  valid = valid && point >= kLeast[size] && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
  at += valid ? size : 1;
  return valid ? static_cast<char32_t>(point) : kNoCharacter;
}

std::string_view whole_characters(std::string_view text) {
  std::size_t last = text.size();  // where the last character begins
  while (last > 0 && text.size() - last < 3 && is_trail_byte(text[last - 1])) --last;
  if (last == 0) return text;
  --last;
  return utf8_size(text[last]) > text.size() - last ? text.substr(0, last) : text;
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (static_cast<unsigned char>(text[at]) < 0x80) {  // most text: prepare checks every byte
      ++at;
    } else if (next_character(text, at) == kNoCharacter) {
      return begin;
    }
  }
  return std::nullopt;
}

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

std::string cut(const std::string& text, std::size_t columns) { return text.substr(0, extent_of(text, columns).bytes); }

std::size_t columns_of(std::string_view text) { return extent_of(text, static_cast<std::size_t>(-1)).columns; }

std::string left(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, columns_of(text)), ' ');
}

std::string right(const std::string& text, std::size_t columns) {
  return std::string(columns - std::min(columns, columns_of(text)), ' ') + text;
}

std::string fixed(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

std::string grouped(std::uint64_t number) { return with_commas(std::to_string(number)); }

std::string with_commas(const std::string& number) {
  const std::size_t end = std::min(number.find('.'), number.size());
  std::string result;
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (i > 0 && i < end && (end - i) % 3 == 0 && number[i - 1] != '-') result += ',';
    result += number[i];
  }
  return result;
}

std::string counted(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{:.2f}%", whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string duration(double seconds) {
  const auto s = std::llround(seconds);
  if (s >= 3600) return fmt::format("{}h{:02}m", s / 3600, s % 3600 / 60);
  return s >= 60 ? fmt::format("{}m{:02}s", s / 60, s % 60) : fmt::format("{}s", s);
}

std::string utc(std::time_t time) { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time)); }

}  // namespace rnnsearch

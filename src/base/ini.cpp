#include "rnnsearch/base/ini.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "rnnsearch/base/error.h"

namespace rnnsearch {
namespace {

constexpr std::string_view kSpace = " \t";

bool is_quote(char c) {
  return c == '"' || c == '\'';
}

// What nobody can see in a value, and ends it where the system takes texts. "0x1b"; none if there is none.
std::optional<std::string> control_character(std::string_view text) {
  const auto found = std::find_if(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
  if (found == text.end()) return std::nullopt;
  return fmt::format("{:#04x}", static_cast<unsigned char>(*found));
}

/// `text`: what follows the = of a line.
std::string value_in(std::string_view text, const std::string& location) {
  const std::size_t first = std::min(text.find_first_not_of(kSpace), text.size());
  if (first == text.size() || !is_quote(text[first])) {
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] == '#' && kSpace.find(text[i - 1]) != kSpace.npos) text = text.substr(0, i);
    }
    return std::string(trimmed(text));
  }
  const char quote = text[first];
  std::string value;
  for (std::size_t i = first + 1; i < text.size(); ++i) {
    if (text[i] != quote) {
      value += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == quote) {
      value += text[i++];
    } else {
      const std::string_view rest = trimmed(text.substr(i + 1));
      if (rest.empty() || rest.front() == '#') return value;
      throw UsageError(
          "{}: after the quote that ends the value stands '{}'; write quotes inside of a quoted value twice", location,
          rest);
    }
  }
  throw UsageError(
      "{}: the quote {} that begins the value does not end; write another one at its end, or quote the whole value "
      "with the other kind of quote",
      location, quote);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kWhite);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(kWhite) - first + 1);
}

std::vector<std::pair<std::string, std::string>> read_ini(const std::string& text, const std::string& name) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::size_t number = 1;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1, ++number) {
    end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (const auto control = control_character(line)) {
      throw UsageError(
          "{}: line {} holds the control character {}; a configuration is lines of text, 'key = value': remove it",
          name, number, *control);
    }
    const std::string_view content = trimmed(line);
    if (content.empty() || content.front() == '#') continue;
    const std::size_t equals = line.find('=');
    if (equals == line.npos) throw UsageError("{}: '{}' is not of the form 'key = value'", name, content);
    const std::string key(trimmed(line.substr(0, equals)));
    pairs.emplace_back(key, value_in(line.substr(equals + 1), fmt::format("{}: {}", name, key)));
  }
  return pairs;
}

std::string ini_line(const std::string& key, const std::string& value) {
  if (const auto control = control_character(value)) {
    throw UsageError(
        "--{} is '{}', whose character {} a configuration file cannot hold: choose a value without control characters",
        key, value, *control);
  }
  const bool plain = trimmed(value) == value && value.find('#') == value.npos && (value.empty() || !is_quote(value[0]));
  if (plain) return key + " = " + value + "\n";
  std::string quoted = "\"";
  for (const char c : value) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return key + " = " + quoted + "\"\n";
}

}  // namespace rnnsearch

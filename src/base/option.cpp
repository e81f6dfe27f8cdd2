#include "rnnsearch/base/option.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

namespace rnnsearch {
namespace value {

bool read(const std::string& text, bool& field) {
  const auto is = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return text == name; });
  };
  if (!is({"true", "yes", "on", "1", "false", "no", "off", "0"})) return false;
  field = is({"true", "yes", "on", "1"});
  return true;
}
bool read(const std::string& text, Ramp& field) {
  const std::size_t colon = text.find(':'), at = text.find('@');
  Ramp ramp;
  if (colon == text.npos) {
    if (!read(text, ramp.to)) return false;
    ramp.from = ramp.to;
  } else if (at == text.npos || !read(text.substr(0, colon), ramp.from) ||
             !read(text.substr(colon + 1, std::max(at, colon) - colon - 1), ramp.to) ||
             !read(text.substr(at + 1), ramp.updates) || ramp.updates == 0) {
    return false;
  }
  field = ramp;
  return true;
}
bool read(const std::string& text, std::vector<std::uint64_t>& field) {
  std::vector<std::uint64_t> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    if (!read(part, numbers.emplace_back())) return false;
  }
  if (text.ends_with(',')) return false;
  field = std::move(numbers);
  return true;
}

std::string write(bool field) { return field ? "true" : "false"; }
std::string write(const Ramp& field) {
  return field.updates == 0 ? write(field.to)
                            : fmt::format("{}:{}@{}", write(field.from), write(field.to), field.updates);
}
std::string write(const std::vector<std::uint64_t>& field) { return fmt::to_string(fmt::join(field, ",")); }

}  // namespace value

namespace {

std::string number_text(double number) {
  return number == std::floor(number) && std::fabs(number) < 1e15 ? std::to_string(static_cast<std::int64_t>(number))
                                                                  : value::write(number);
}

}  // namespace

bool environment_switch(const char* name) {
  const char* const text = std::getenv(name);
  bool is_on = false;
  if (text && *text != '\0' && !value::read(text, is_on)) {
    throw UsageError(
        "the environment variable {} is '{}' but must be 1, true, yes or on, or 0, false, no or off; correct or unset "
        "it",
        name, text);
  }
  return is_on;
}

bool Bounds::contains(double number) const {
  return (or_zero && number == 0) || ((above ? number > from : number >= from) && (below ? number < to : number <= to));
}

std::string expected_of(value::Kind kind, const Bounds& bounds, const std::vector<std::string>& choices) {
  std::string text;
  switch (kind) {
    case value::Kind::kSwitch:
      return "true or false";
    case value::Kind::kIntegers:
      return "whole numbers with commas between them";
    case value::Kind::kText:
      for (const std::string& choice : choices) {
        text += (text.empty() ? "" : &choice == &choices.back() ? " or " : ", ") + choice;
      }
      return text;
    case value::Kind::kInteger:
      text = "a whole number";
      break;
    case value::Kind::kNumber:
      text = "a number";
      break;
    case value::Kind::kRamp:
      return expected_of(value::Kind::kNumber, bounds, choices) +
             ", or two with the number of updates from one to the other, such as 0:0.2@6000";
  }
  if (!bounds.sentence.empty()) return text + " " + std::string(bounds.sentence);
  const bool low = std::isfinite(bounds.from), high = std::isfinite(bounds.to);
  if (low && high && !bounds.above && !bounds.below) {
    return text + " from " + number_text(bounds.from) + " to " + number_text(bounds.to);
  }
  if (low) text += (bounds.above ? " above " : " of at least ") + number_text(bounds.from);
  if (low && high) text += " and";
  if (high) text += (bounds.below ? " below " : low ? " at most " : " of at most ") + number_text(bounds.to);
  return text;
}

bool allows(value::Kind kind, const Bounds& bounds, const std::vector<std::string>& choices, const std::string& text) {
  if (kind == value::Kind::kText) {
    return choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end();
  }
  if (kind == value::Kind::kInteger || kind == value::Kind::kNumber) {
    return bounds.contains(std::strtod(text.c_str(), nullptr));
  }
  if (kind == value::Kind::kRamp) {
    Ramp ramp;
    // A NaN, which check_bounds meets in a struct that no text filled, reads as no ramp.
    return value::read(text, ramp) && bounds.contains(ramp.from) && bounds.contains(ramp.to);
  }
  return true;
}

std::string filled(std::string_view text, const std::function<std::string(std::string_view)>& value) {
  std::string whole;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = std::min(text.find('{', at), text.size());
    const std::size_t close = text.find('}', open);
    whole += text.substr(at, open - at);
    if (close == text.npos) return whole += text.substr(open);
    whole += value(text.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return whole;
}

std::string Option::text() const {
  const std::vector<std::string> all = write();
  return all.empty() ? "" : all.front();
}

void OptionList::add(Option option) {
  option.default_text = fmt::to_string(fmt::join(option.write(), " "));
  const auto last = std::find_if(options_.rbegin(), options_.rend(),
                                 [&](const Option& other) { return other.group == option.group; });
  options_.insert(last == options_.rend() ? options_.end() : last.base(), std::move(option));
}

const Option* OptionList::find(std::string_view name) const {
  const auto found = std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

Config OptionList::record() const {
  Config record;
  for (const Option& option : options_) record.emplace(option.name, option.text());
  return record;
}

void OptionList::read_record(const Config& record, const std::string& location) {
  for (const Option& option : options_) {
    const auto found = record.find(option.name);
    if (found == record.end())
      throw Error("{} lacks {}, so another version of rnnsearch wrote it; use that one", location, option.name);
    if (!option.read(found->second))
      throw Error("{} says {} = '{}', expected {}", location, option.name, found->second, option.expected());
  }
}

void OptionList::check_bounds(const std::string& location) const {
  for (const Option& option : options_) {
    const std::string text = option.text();
    if (allows(option.kind, option.bounds, option.choices, text)) continue;
    throw Error("{}{} is {}; it must be {}", location, option.name, text, option.expected());
  }
}

namespace {

constexpr std::string_view kSpace = " \t";

bool is_quote(char c) { return c == '"' || c == '\''; }

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

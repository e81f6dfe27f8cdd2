#include "rnnsearch/text/placeholders.h"

#include <re2/re2.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"
#include "text/code_points.h"

namespace rnnsearch::text {
namespace {

constexpr std::string_view kOpening = "<copy";
constexpr std::string_view kLookalike = "\u2039";  // of "<"

/// The number of the placeholder with which the text begins, from 0.
std::optional<std::size_t> number_of_placeholder(std::string_view text) {
  if (!text.starts_with(kOpening)) return {};
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + kOpening.size(), end, number);
  if (error != std::errc() || rest == end || *rest != '>' || number == 0 || number > kMostPlaceholders) return {};
  return text.starts_with(placeholder(number - 1)) ? std::optional(number - 1) : std::nullopt;  // not "<copy01>"
}

bool is_letter_or_digit(UChar32 c) { return u_isalnum(c) || u_getCombiningClass(c) != 0; }

UChar32 first_character(std::string_view text) {
  std::size_t at = 0;
  return next_code_point(text, at);
}

UChar32 last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && is_trail_byte(text[at])) --at;
  return next_code_point(text, at);
}

bool may_touch(UChar32 c, Surroundings where) {
  return where == Surroundings::kSpaces ? is_space(c) : !is_letter_or_digit(c);
}

void append_escaped(std::string& text, std::string_view part) {
  for (std::size_t at; (at = part.find(kOpening)) != part.npos;) {
    text += part.substr(0, at);
    text += number_of_placeholder(part.substr(at)) ? kLookalike : kOpening.substr(0, 1);
    part.remove_prefix(at + 1);
  }
  text += part;
}

RE2::Options options_of_patterns() {
  RE2::Options options;
  options.set_longest_match(true);
  options.set_log_errors(false);
  return options;
}

void check(const std::string& pattern) {
  const RE2 compiled(pattern, options_of_patterns());
  if (!compiled.ok())
    throw Error(
        "the copy pattern '{}' is not a regular expression of RE2: {}; correct it, for example [0-9]+ for numbers",
        pattern, compiled.error());
  if (RE2::FullMatch("", compiled))
    throw Error(
        "the copy pattern '{}' matches the empty string, which cannot be copied; let it match at least one character, "
        "for example with + in place of *",
        pattern);
  if (pattern.find_first_of(std::string_view("\n\0", 2)) != pattern.npos)
    throw Error("a copy pattern holds a line end or NUL, but patterns are matched within lines; leave it out");
}

struct Match {
  std::size_t begin, size;
};

/// `patterns` may be null.
std::vector<Match> find(const RE2* patterns, std::string_view line, Surroundings where) {
  std::vector<Match> matches;
  if (!patterns) return matches;
  const re2::StringPiece text(line.data(), line.size());
  for (std::size_t from = 0; from < line.size();) {
    re2::StringPiece found;
    if (!patterns->Match(text, from, line.size(), RE2::UNANCHORED, &found, 1)) break;
    const auto begin = static_cast<std::size_t>(found.data() - line.data());
    from = begin + found.size();
    if (found.empty()) {  // such as of \b
      if (from < line.size()) next_code_point(line, from);
      continue;
    }
    if (where != Surroundings::kAny && ((begin > 0 && !may_touch(last_character(line.substr(0, begin)), where)) ||
                                        (from < line.size() && !may_touch(first_character(line.substr(from)), where))))
      continue;
    matches.push_back({begin, found.size()});
  }
  return matches;
}

/// number_of(text): the number of the placeholder for the next match, if it gets one.
template <class NumberOf>
std::string replaced(std::string_view line, const std::vector<Match>& matches, const NumberOf& number_of) {
  std::string text;
  std::size_t end = 0;
  for (const auto& [begin, size] : matches) {
    const std::optional<std::size_t> number = number_of(line.substr(begin, size));
    if (!number) continue;
    append_escaped(text, line.substr(end, begin - end));
    text += placeholder(*number);
    end = begin + size;
  }
  append_escaped(text, line.substr(end));
  return text;
}

}  // namespace

std::string placeholder(std::size_t number) { return fmt::format("{}{}>", kOpening, number + 1); }

std::size_t placeholder_size(std::string_view text) {
  const auto number = number_of_placeholder(text);
  return number ? placeholder(*number).size() : 0;
}

std::string with_spans(std::string_view text, const std::vector<std::string>& spans) {
  std::string line;
  for (std::size_t at; (at = text.find(kOpening)) != text.npos;) {
    line += text.substr(0, at);
    text.remove_prefix(at);
    if (const auto number = number_of_placeholder(text)) {
      if (*number < spans.size()) line += spans[*number];
      text.remove_prefix(placeholder(*number).size());
    } else {
      line += text.front();
      text.remove_prefix(1);
    }
  }
  line += text;
  return line;
}

CopyPatterns::CopyPatterns(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {
  if (patterns_.empty()) return;
  std::string all(kOpening);
  all += "[0-9]+>";
  for (const std::string& pattern : patterns_) {
    check(pattern);
    all += "|(?:" + pattern + ")";
  }
  compiled_ = std::make_shared<RE2>(all, options_of_patterns());
  if (!compiled_->ok())
    throw Error("the copy patterns cannot be compiled together: {}; simplify them", compiled_->error());
}

std::string CopyPatterns::replace(std::string_view line, Surroundings where, std::size_t most,
                                  std::vector<std::string>& spans) const {
  return replaced(line, find(compiled_.get(), line, where), [&](std::string_view match) {
    if (spans.size() >= std::min(most, kMostPlaceholders)) return std::optional<std::size_t>();
    spans.emplace_back(match);
    return std::optional(spans.size() - 1);
  });
}

std::string CopyPatterns::replace_same(std::string_view line, Surroundings where,
                                       const std::vector<std::string>& spans) const {
  std::vector<bool> used(spans.size());
  return replaced(line, find(compiled_.get(), line, where), [&](std::string_view match) -> std::optional<std::size_t> {
    for (std::size_t k = 0; k < spans.size(); ++k) {
      if (used[k] || spans[k] != match) continue;
      used[k] = true;
      return k;
    }
    return {};
  });
}

void CopyPatterns::replace_pair(std::string& source, std::string& target, Surroundings where) const {
  std::unordered_map<std::string_view, std::size_t> of_target;  // how often each text occurs
  for (const auto& [begin, size] : find(compiled_.get(), target, where))
    ++of_target[std::string_view(target).substr(begin, size)];
  std::vector<std::string> spans;  // of both sides, in the order of the source
  source =
      replaced(source, find(compiled_.get(), source, where), [&](std::string_view match) -> std::optional<std::size_t> {
        const auto same = of_target.find(match);
        if (same == of_target.end() || same->second == 0 || spans.size() == kMostPlaceholders) return {};
        --same->second;
        spans.emplace_back(match);
        return spans.size() - 1;
      });
  target = replace_same(target, where, spans);
}

}  // namespace rnnsearch::text

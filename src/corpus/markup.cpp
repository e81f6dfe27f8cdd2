#include "corpus/markup.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "rnnsearch/base/error.h"

namespace rnnsearch::corpus {
namespace {

constexpr std::string_view kSpace = " \t\r\n\f\v";
constexpr std::size_t kReferenceBytes = 12;  // maximum length of a character reference
constexpr std::size_t kAttributes = 100;     // limit, because each attribute is compared with those before it

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name_character(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == ':';
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

void append_utf8(std::string& text, std::uint32_t c) {
  const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) {
    byte(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      byte(0xE0 | c >> 12);
    } else {
      byte(0xF0 | c >> 18);
      byte(0x80 | (c >> 12 & 0x3F));
    }
    byte(0x80 | (c >> 6 & 0x3F));
  }
  byte(0x80 | (c & 0x3F));
}

/// The character that a reference names; nullopt if it names none.
std::optional<std::uint32_t> character(std::string_view name) {
  for (const auto& [known, c] : {std::pair{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}) {
    if (name == known) return static_cast<std::uint32_t>(c);
  }
  if (!name.starts_with('#')) return std::nullopt;
  const bool hexadecimal = name.size() > 1 && lower(name[1]) == 'x';
  const char *first = name.data() + (hexadecimal ? 2 : 1), *last = name.data() + name.size();
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(first, last, number, hexadecimal ? 16 : 10);
  const bool control = number < 0x20 && number != '\t' && number != '\n' && number != '\r';
  if (error != std::errc() || end != last || control || number > 0x10FFFF || (number >= 0xD800 && number < 0xE000)) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::string_view Tag::attribute(std::string_view wanted) const {
  for (const auto& [key, value] : attributes) {
    if (key == wanted) return value;
  }
  return {};
}

std::uint64_t MarkupScanner::line() {
  const std::string_view passed = document_.substr(counted_, tag_at_ - counted_);
  line_ += static_cast<std::uint64_t>(std::count(passed.begin(), passed.end(), '\n'));
  counted_ = tag_at_;
  return line_;
}

void MarkupScanner::fail_at(std::size_t place, const std::string& reason) const {
  const auto end = document_.begin() + static_cast<std::ptrdiff_t>(std::min(place, document_.size()));
  throw Error(
      text_of("corpus: ", path_.string(), " line ", 1 + std::count(document_.begin(), end, '\n'), ": ", reason));
}

/// Returns the text in front of `end`, and continues after `end`. `what` names the construct in an error.
std::string_view MarkupScanner::through(std::string_view end, const char* what) {
  const std::size_t found = document_.find(end, at_);
  if (found == std::string_view::npos) fail_at(at_, text_of(what, " has no end; the file is truncated"));
  const std::string_view inside = document_.substr(at_, found - at_);
  at_ = found + end.size();
  return inside;
}

bool MarkupScanner::next(std::string& text, Tag& tag) {
  text.clear();
  text_at_ = document_.find_first_not_of(kSpace, at_);
  while (at_ < document_.size()) {
    const std::size_t special = std::min(document_.find_first_of("<&", at_), document_.size());
    text += document_.substr(at_, special - at_);
    at_ = special;
    if (at_ == document_.size()) break;
    const char behind = at_ + 1 < document_.size() ? document_[at_ + 1] : '\0';
    if (document_[at_] == '&') {
      reference(text);
    } else if (begins_with("<!--")) {
      through("-->", "a comment");
    } else if (begins_with("<![CDATA[")) {
      at_ += std::string_view("<![CDATA[").size();
      text += through("]]>", "a CDATA section");
    } else if (behind == '?') {
      through(">", "a processing instruction");
    } else if (behind == '!') {
      const std::size_t begin = at_;
      if (through(">", "a declaration").find('[') == std::string_view::npos) continue;
      at_ = begin;
      fail_at(at_, "declarations inside a document type are not supported; remove them");
    } else if (is_letter(behind) || behind == '/') {
      read_tag(tag);
      return true;
    } else if (xml_) {
      fail_at(at_, "a '<' does not begin a tag; write it as &lt;");
    } else {
      text += document_[at_++];
    }
  }
  tag_at_ = document_.size();
  return false;
}

void MarkupScanner::reference(std::string& text) {
  const std::string_view rest = document_.substr(at_ + 1, kReferenceBytes);
  const std::size_t end = rest.find(';');
  if (end != std::string_view::npos) {
    if (const auto c = character(rest.substr(0, end))) {
      append_utf8(text, *c);
      at_ += end + 2;
      return;
    }
    if (rest.starts_with('#')) {
      fail_at(at_, text_of("&", rest.substr(0, end + 1), " does not refer to a character"));
    }
  }
  if (xml_) fail_at(at_, "an '&' does not begin a character reference; write it as &amp;");
  text += document_[at_++];
}

void MarkupScanner::skip_space() {
  at_ = std::min(document_.find_first_not_of(kSpace, at_), document_.size());
}

std::string MarkupScanner::name(const char* of_what) {
  std::string name;
  for (; at_ < document_.size() && is_name_character(document_[at_]); ++at_) name += lower(document_[at_]);
  if (name.empty()) fail(text_of("the name of ", of_what, " was expected in a tag; is a '>' or a quote missing?"));
  return name;
}

void MarkupScanner::read_tag(Tag& tag) {
  tag_at_ = at_++;
  tag.begins = document_[at_] != '/';
  tag.ends = !tag.begins;
  at_ += tag.ends;
  tag.name = name("an element");
  tag.attributes.clear();
  for (;;) {
    skip_space();
    if (at_ == document_.size()) fail(text_of("the tag <", tag.name, " has no '>'; the file is truncated"));
    if (document_[at_] == '>') break;
    if (begins_with("/>") && tag.begins) {
      tag.ends = true;
      ++at_;
      break;
    }
    if (!tag.begins) fail(text_of("the end tag </", tag.name, "> holds more than its name"));
    std::string attribute = name("an attribute");
    skip_space();
    std::string value;
    if (begins_with("=")) {
      ++at_;
      skip_space();
      value = attribute_value();
    }
    if (!tag.attribute(attribute).empty()) fail(text_of("the tag <", tag.name, "> has ", attribute, " twice"));
    if (tag.attributes.size() == kAttributes) fail(text_of("the tag <", tag.name, "> has too many attributes"));
    tag.attributes.emplace_back(std::move(attribute), std::move(value));
  }
  ++at_;
}

std::string MarkupScanner::attribute_value() {
  const char quote = at_ < document_.size() ? document_[at_] : '\0';
  const bool quoted = quote == '"' || quote == '\'';
  at_ += quoted;
  std::string value;
  for (; at_ < document_.size();) {
    const char c = document_[at_];
    if (quoted ? c == quote : c == '>' || kSpace.find(c) != std::string_view::npos) break;
    if (c == '<') break;
    if (c == '&') {
      reference(value);
    } else {
      value += c;
      ++at_;
    }
  }
  if (at_ == document_.size() || document_[at_] == '<')
    fail("the value of an attribute has no end; is its closing quote missing?");
  at_ += quoted;
  return value;
}

}  // namespace rnnsearch::corpus

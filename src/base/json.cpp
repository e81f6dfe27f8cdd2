#include "rnnsearch/base/json.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "rnnsearch/base/error.h"

namespace rnnsearch {
namespace {

using Library = nlohmann::ordered_json;

constexpr int kMaximumDepth = 200;  // limited because parsing and writing are recursive

const char* kind_of(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_string()) return "a string";
  if (value.is_number()) return "a number";
  if (value.is_array()) return "an array";
  return value.is_object() ? "an object" : "a boolean";
}

[[noreturn]] void refuse(const Json& value, const char* wanted) {
  throw Error("json: expected {}, found {}", wanted, kind_of(value));
}

Json from_library(const Library& value) {
  switch (value.type()) {
    case Library::value_t::boolean:
      return value.get<bool>();
    case Library::value_t::number_integer:
      return value.get<std::int64_t>();
    case Library::value_t::number_unsigned: {
      // A number that was written as a signed integer must be read back as an equal value.
      const auto number = value.get<std::uint64_t>();
      if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return static_cast<std::int64_t>(number);
      }
      return number;
    }
    case Library::value_t::number_float:
      return value.get<double>();
    case Library::value_t::string:
      return value.get_ref<const std::string&>();
    case Library::value_t::array: {
      Json array = Json::array();
      for (const Library& item : value) array.push_back(from_library(item));
      return array;
    }
    case Library::value_t::object: {
      std::vector<Json::Member> members;
      for (const auto& [name, member] : value.items()) members.emplace_back(name, from_library(member));
      return Json::object(std::move(members));
    }
    default:
      return {};
  }
}

template <class Value>
Library to_library(const Value& value, const auto& self) {
  if constexpr (std::is_same_v<Value, std::monostate>) {
    return nullptr;
  } else if constexpr (std::is_same_v<Value, std::vector<Json>>) {
    Library array = Library::array();
    for (const Json& item : value) array.push_back(self(item));
    return array;
  } else if constexpr (std::is_same_v<Value, std::vector<Json::Member>>) {
    Library object = Library::object();
    for (const auto& [name, member] : value) object[name] = self(member);
    return object;
  } else {
    return value;
  }
}

}  // namespace

Json Json::array(std::vector<Json> items) {
  Json json;
  json.value_ = std::move(items);
  return json;
}

Json Json::object(std::vector<Member> members) {
  Json json;
  json.value_ = std::move(members);
  return json;
}

void Json::push_back(Json item) {
  if (is_null()) value_ = Items{};
  if (!is_array()) refuse(*this, "an array");
  std::get<Items>(value_).push_back(std::move(item));
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = Members{};
  if (!is_object()) refuse(*this, "an object");
  auto& members = std::get<Members>(value_);
  for (auto& [known, member] : members) {
    if (known == name) return member;
  }
  return members.emplace_back(std::string(name), Json()).second;
}

bool Json::is_number() const {
  return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_) ||
         std::holds_alternative<double>(value_);
}

bool Json::boolean() const {
  if (const bool* value = std::get_if<bool>(&value_)) return *value;
  refuse(*this, "a boolean");
}

std::int64_t Json::integer() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&value_);
      value != nullptr && *value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return static_cast<std::int64_t>(*value);
  }
  if (is_number()) throw Error("json: expected an integer from -2^63 to 2^63 - 1, found {}", dump());
  refuse(*this, "an integer");
}

double Json::number() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  refuse(*this, "a number");
}

const std::string& Json::string() const {
  if (!is_string()) refuse(*this, "a string");
  return std::get<std::string>(value_);
}

const std::vector<Json>& Json::items() const {
  if (!is_array()) refuse(*this, "an array");
  return std::get<Items>(value_);
}

const std::vector<Json::Member>& Json::members() const {
  if (!is_object()) refuse(*this, "an object");
  return std::get<Members>(value_);
}

const Json* Json::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  for (const auto& [known, member] : std::get<Members>(value_)) {
    if (known == name) return &member;
  }
  return nullptr;
}

const Json& Json::at(std::string_view name) const {
  if (!is_object()) refuse(*this, "an object");
  if (const Json* member = find(name)) return *member;
  throw Error("json: the object has no member \"{}\"", name);
}

std::string Json::dump(int indent) const {
  const auto convert = [](const Json& json, const auto& self) -> Library {
    const auto recurse = [&self](const Json& inner) { return self(inner, self); };
    return std::visit([&](const auto& value) { return to_library(value, recurse); }, json.value_);
  };
  return convert(*this, convert).dump(indent, ' ', false, Library::error_handler_t::replace);
}

Json Json::parse(std::string_view text, std::string_view what) {
  const auto limit = [&](int depth, Library::parse_event_t, Library&) {
    if (depth > kMaximumDepth) throw Error("{}: JSON nested more than {} deep", what, kMaximumDepth);
    return true;
  };
  try {
    return from_library(Library::parse(text, limit));
  } catch (const Library::parse_error& error) {
    throw Error("{}: not valid JSON at byte {} of {}", what, error.byte, text.size());
  } catch (const Library::exception&) {
    throw Error("{}: not valid JSON that can be read: a number in it is beyond the range of a double", what);
  }
}

}  // namespace rnnsearch

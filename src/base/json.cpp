#include "rnnsearch/base/json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch {
namespace {

constexpr int kMaximumDepth = 200;  // limited because parsing and writing are recursive

const char* kind_of(const Json& json) {
  if (json.is_null()) return "null";
  if (json.is_string()) return "a string";
  if (json.is_number()) return "a number";
  if (json.is_array()) return "an array";
  return json.is_object() ? "an object" : "a boolean";
}

const Json& expect(bool found, const char* wanted, const Json& json) {
  if (!found) throw Error("json: expected {}, found {}", wanted, kind_of(json));
  return json;
}

}  // namespace

std::int64_t as_integer(const Json& json) {
  expect(json.is_number(), "an integer", json);
  if (json.is_number_float() ||
      (json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()))
    throw Error("json: expected an integer from -2^63 to 2^63 - 1, found {}", json_text(json));
  return json.get<std::int64_t>();
}

double as_number(const Json& json) { return expect(json.is_number(), "a number", json).get<double>(); }

const std::string& as_string(const Json& json) {
  return expect(json.is_string(), "a string", json).get_ref<const std::string&>();
}

const Json& as_array(const Json& json) { return expect(json.is_array(), "an array", json); }

const Json& as_object(const Json& json) { return expect(json.is_object(), "an object", json); }

const Json& member(const Json& json, std::string_view name) {
  if (const Json* found = find_member(as_object(json), name)) return *found;
  throw Error("json: the object has no member \"{}\"", name);
}

const Json* find_member(const Json& json, std::string_view name) {
  const auto found = json.find(std::string(name));
  return found == json.end() ? nullptr : &*found;
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json parse_json(std::string_view text, std::string_view what) {
  const auto limit = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kMaximumDepth) throw Error("{}: JSON nested more than {} deep", what, kMaximumDepth);
    return true;
  };
  try {
    return Json::parse(text, limit);
  } catch (const Json::parse_error& error) {
    throw Error("{}: not valid JSON at byte {} of {}", what, error.byte, text.size());
  } catch (const Json::exception&) {
    throw Error("{}: not valid JSON that can be read: a number in it is beyond the range of a double", what);
  }
}

bool JsonReader::missing() const { return json_ == nullptr || json_->is_null(); }

std::size_t JsonReader::size() const { return of_kind(!missing() && json_->is_array(), "a list").size(); }

JsonReader JsonReader::item(std::size_t i) const {
  JsonReader reader(&(*json_)[i], this, "");
  reader.item_ = i + 1;
  return reader;
}

JsonReader JsonReader::member(const char* name) const {
  return {find_member(of_kind(!missing() && json_->is_object(), "an object"), name), this, name};
}

void JsonReader::each_member(const std::function<void(const std::string&, const JsonReader&)>& act) const {
  for (const auto& [name, value] : of_kind(!missing() && json_->is_object(), "an object").items()) {
    act(name, JsonReader(&value, this, name));
  }
}

void JsonReader::read(bool& value) const {
  value = of_kind(!missing() && json_->is_boolean(), "true or false").get<bool>();
}

void JsonReader::read(std::uint64_t& value) const {
  const char* kind = "a whole number from 0 to 2^64 - 1";
  value = of_kind(!missing() && json_->is_number_unsigned(), kind).get<std::uint64_t>();
}

void JsonReader::read(double& value, double from, double to) const {
  value = of_kind(!missing() && json_->is_number(), "a number").get<double>();
  if (!(value >= from && value <= to)) refuse(fmt::format("is {:g}, but must be from {:g} to {:g}", value, from, to));
}

void JsonReader::read(std::string& value) const {
  value = of_kind(!missing() && json_->is_string(), "a text").get_ref<const std::string&>();
}

void JsonReader::refuse(const std::string& what) const {
  throw Error("{} {}; the file was not written by rnnsearch or was changed; make it again", location(),
              printable(what));
}

std::string JsonReader::location() const {
  if (parent_ == nullptr) return name_;
  return fmt::format("{}, {}", parent_->location(), item_ > 0 ? fmt::format("entry {}", item_) : printable(name_));
}

const Json& JsonReader::of_kind(bool found, const char* kind) const {
  if (found) return *json_;
  refuse(missing() ? fmt::format("is missing, but must be {}", kind) : fmt::format("is not {}", kind));
}

Json with_texts(Json json, std::string (*change)(std::string_view text)) {
  if (json.is_string()) return change(as_string(json));
  if (json.is_array()) {
    for (Json& item : json) item = with_texts(std::move(item), change);
  } else if (json.is_object()) {
    Json members = Json::object();
    for (const auto& [name, value] : json.items()) members[change(name)] = with_texts(std::move(value), change);
    return members;
  }
  return json;
}

}  // namespace rnnsearch

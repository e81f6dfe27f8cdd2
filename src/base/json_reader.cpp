#include "rnnsearch/base/json_reader.h"

#include <nlohmann/json.hpp>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch {

bool JsonReader::missing() const {
  return json_ == nullptr || json_->is_null();
}

std::size_t JsonReader::size() const {
  return of_kind(!missing() && json_->is_array(), "a list").size();
}

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

// JSON values are nlohmann's: objects keep the order in which members were added, integers stay integers. A file that
// makes values or looks into them includes <nlohmann/json.hpp>, which takes a second to compile, so headers do not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rnnsearch/base/option.h"

namespace rnnsearch {

using Json = nlohmann::ordered_json;

/// These throw Error if the value is of another kind. A number may be an integer.
std::int64_t as_integer(const Json& json);
double as_number(const Json& json);
const std::string& as_string(const Json& json);
const Json& as_array(const Json& json);
const Json& as_object(const Json& json);
/// The member of this name. Throws Error if this is not an object or has no such member.
const Json& member(const Json& json, std::string_view name);
/// Likewise, but nullptr in place of Error.
const Json* find_member(const Json& json, std::string_view name);

/// Writes the value, on one line if indent < 0. Doubles are written with the fewest digits that are read back as the
/// same bits. Doubles that JSON cannot represent (NaN, infinities) become null, and bytes that are not UTF-8 become
/// U+FFFD, for which the value's own dump() throws.
std::string json_text(const Json& json, int indent = -1);
/// `what` names the text in errors, for example "log.jsonl, line 7". Throws Error with the position of the error.
Json parse_json(std::string_view text, std::string_view what);

/// Reads JSON that is not trusted into structs. Beside a struct stands its list of members:
///   void fields(auto& visit, Point& point) { visit("x", point.x), visit("y", point.y); }
/// and JsonReader(json, "file.json").read(point) reads it. The same list may serve to write the struct.
/// A value, or the absence of one: a member that is missing or null. A list or struct that is read must be empty or
/// hold its defaults. Errors name the location, what is there and what is expected.
class JsonReader {
 public:
  static constexpr bool kReads = true;

  /// location: begins errors, such as the name of the file. `json`, and the parent of members and items, must outlive
  /// it.
  JsonReader(const Json& json, std::string location) : json_(&json), name_(std::move(location)) {}

  bool missing() const;
  std::size_t size() const;  // of a list
  JsonReader item(std::size_t i) const;
  JsonReader member(const char* name) const;
  /// Throws Error: the location, what is wrong, and what to do.
  [[noreturn]] void refuse(const std::string& what) const;

  void read(bool& value) const;
  void read(std::uint64_t& value) const;
  void read(double& value, double from = -1e15, double to = 1e15) const;
  void read(std::string& value) const;
  template <NamedEnum E>
  void read(E& value) const {
    std::string text;
    read(text);
    if (value::read(text, value)) return;
    std::string names;
    for (const auto& name : all_names<E>()) names += (names.empty() ? "" : " or ") + name;
    refuse("is \"" + text + "\", but must be " + names);
  }
  // `more` goes on to each element: the range of numbers, or what `fields` of a struct needs to know.
  template <class T, class... More>
  void read(std::optional<T>& value, const More&... more) const {
    if (!missing()) read(value.emplace(), more...);
  }
  template <class T, class... More>
  void read(std::vector<T>& values, const More&... more) const {
    values.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) item(i).read(values.emplace_back(), more...);
  }
  template <class T, std::size_t N, class... More>
  void read(std::array<T, N>& values, const More&... more) const {
    if (size() != N) refuse("is not a list of " + std::to_string(N));
    for (std::size_t i = 0; i < N; ++i) item(i).read(values[i], more...);
  }
  template <class T, class... More>
  requires requires(const JsonReader& reader, T& value, More... more) { fields(reader, value, more...); }
  void read(T& value, const More&... more) const { fields(*this, value, more...); }

  // The visitor of `fields`. A member must be there unless it is a std::optional.
  template <class T, class... More>
  void operator()(const char* name, T& value, const More&... more) const {
    member(name).read(value, more...);
  }
  /// Reads the member only if `there`.
  template <class T, class... More>
  void when(bool there, const char* name, T& value, const More&... more) const {
    if (there) (*this)(name, value, more...);
  }
  template <class T, class... More>
  void known(bool there, const char* name, T& value, const More&... more) const {
    when(there && has(name), name, value, more...);
  }
  /// Reads the member if there is one.
  template <class T, class... More>
  void if_any(const char* name, T& value, const More&... more) const {
    when(has(name), name, value, more...);
  }
  /// Reads an object with a member for each value, of which `key` becomes the name.
  template <class T>
  void by_name(const char* name, std::vector<T>& values, std::string T::*key) const {
    member(name).each_member([&](const std::string& name_of_member, const JsonReader& value) {
      values.emplace_back().*key = name_of_member;
      value.read(values.back());
    });
  }
  bool has(const char* name) const { return !member(name).missing(); }
  /// A member that follows from the others, which is only written.
  void computed(const char*, const auto&) const {}
  void check(bool good, const char* what) const {
    if (!good) refuse(what);
  }

 private:
  JsonReader(const Json* json, const JsonReader* parent, std::string name)
      : json_(json), parent_(parent), name_(std::move(name)) {}
  std::string location() const;
  void each_member(const std::function<void(const std::string& name, const JsonReader& value)>& act) const;
  const Json& of_kind(bool found, const char* kind) const;

  const Json* json_;  // nullptr: there is no such member
  const JsonReader* parent_ = nullptr;
  std::string name_;  // of the member; empty for an item
  std::size_t item_ = 0;
};

/// The value with all its texts changed, the names of members included.
Json with_texts(Json json, std::string (*change)(std::string_view text));

}  // namespace rnnsearch

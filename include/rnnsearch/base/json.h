// JSON values: building, writing and parsing.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rnnsearch {

/// A JSON value. Objects keep the order in which members were added; integers stay integers.
/// The accessors boolean, integer, number, string, items, members and at throw Error if the value is of another kind.
class Json {
 public:
  using Member = std::pair<std::string, Json>;

  Json() = default;  // null
  Json(bool value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(std::signed_integral auto value) : value_(std::int64_t{value}) {}
  Json(std::unsigned_integral auto value) : value_(std::uint64_t{value}) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  static Json array(std::vector<Json> items = {});
  static Json object(std::vector<Member> members = {});

  /// Appends to an array; null becomes an array first.
  void push_back(Json item);
  /// The member of this name; appends a null member if there is none. null becomes an object first.
  Json& operator[](std::string_view name);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_number() const;
  bool is_array() const { return std::holds_alternative<Items>(value_); }
  bool is_object() const { return std::holds_alternative<Members>(value_); }

  bool boolean() const;
  std::int64_t integer() const;
  double number() const;  // also for integers
  const std::string& string() const;
  const std::vector<Json>& items() const;
  const std::vector<Member>& members() const;
  /// Returns nullptr if this is not an object or has no such member.
  const Json* find(std::string_view name) const;
  const Json& at(std::string_view name) const;

  /// Writes the value, on one line if indent < 0. Doubles are written with the fewest digits that are read back as the
  /// same bits. Doubles that JSON cannot represent (NaN, infinities) become null, and bytes that are not UTF-8 become
  /// U+FFFD.
  std::string dump(int indent = -1) const;
  /// `what` names the text in errors, for example "log.jsonl, line 7". Throws Error with the position of the error.
  static Json parse(std::string_view text, std::string_view what);

  friend bool operator==(const Json&, const Json&) = default;

 private:
  using Items = std::vector<Json>;
  using Members = std::vector<Member>;
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Items, Members> value_;
};

}  // namespace rnnsearch

// An option of a struct is declared once, as a row of a constexpr table beside the struct: its name, its help, its
// field and its bounds. The command line, --help, configuration files, the record in checkpoints and the checks of
// structs that no command line filled all read these rows. Rules across several options are rows, too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"

namespace rnnsearch {

/// The name of one enumerator. Beside an enum whose values have names stands a function that lists them all:
///   constexpr auto names_of(Cell) { return std::array{Named{Cell::kGru, "gru"}, Named{Cell::kLstm, "lstm"}}; }
template <class E>
struct Named {
  E value;
  std::string_view name;
};
template <class E>
Named(E, const char*) -> Named<E>;

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  names_of(e);
};

template <NamedEnum E>
std::string name_of(E value) {
  for (const auto& named : names_of(value)) {
    if (named.value == value) return std::string(named.name);
  }
  return "";
}
template <NamedEnum E>
std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& named : names_of(E{})) names.emplace_back(named.name);
  return names;
}

/// Text to value and back. `read` returns false when the text is not such a value; `write(x)` reads back as x.
namespace value {
bool read(const std::string& text, bool& field);  // true, false, yes, no, on, off, 1, 0
bool read(const std::string& text, int& field);
bool read(const std::string& text, std::int64_t& field);
bool read(const std::string& text, std::uint64_t& field);  // std::size_t
bool read(const std::string& text, double& field);         // finite
bool read(const std::string& text, std::string& field);
bool read(const std::string& text, std::filesystem::path& field);
bool read(const std::string& text, std::vector<std::uint64_t>& field);  // 10,20,30
template <NamedEnum E>
bool read(const std::string& text, E& field) {
  for (const auto& named : names_of(E{})) {
    if (text != named.name) continue;
    field = named.value;
    return true;
  }
  return false;
}
std::string write(bool field);
std::string write(int field);
std::string write(std::int64_t field);
std::string write(std::uint64_t field);
std::string write(double field);  // the shortest text that reads back as the same bits
std::string write(const std::string& field);
std::string write(const std::filesystem::path& field);
std::string write(const std::vector<std::uint64_t>& field);
template <NamedEnum E>
std::string write(E field) {
  return name_of(field);
}

enum class Kind { kSwitch, kInteger, kNumber, kText, kIntegers };
template <class T>
constexpr Kind kind_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return Kind::kSwitch;
  } else if constexpr (std::is_integral_v<T>) {
    return Kind::kInteger;
  } else if constexpr (std::is_floating_point_v<T>) {
    return Kind::kNumber;
  } else if constexpr (std::is_same_v<T, std::vector<std::uint64_t>>) {
    return Kind::kIntegers;
  } else {
    return Kind::kText;
  }
}
/// The values there are; empty: too many to list.
template <class T>
std::vector<std::string> choices_of() {
  if constexpr (NamedEnum<T>) return all_names<T>();
  return {};
}
}  // namespace value

/// A switch among the environment variables: whether it is 1, true, yes or on; false for 0, false, no and off, and if
/// it is not set or empty. Throws UsageError for any other value.
bool environment_switch(const char* name);

/// The range of a number. Both ends belong to it unless `above` or `below` opens them; a NaN is in none.
struct Bounds {
  double from = -std::numeric_limits<double>::infinity(), to = std::numeric_limits<double>::infinity();
  bool above = false, below = false;
  bool or_zero = false;         // 0 is allowed as well
  std::string_view sentence{};  // follows "a number" in place of what the ends say

  bool contains(double number) const;
};

/// What an option's values are, in words: "a whole number from 1 to 1000", "word, context or none".
std::string expected_of(value::Kind kind, const Bounds& bounds, const std::vector<std::string>& choices);
/// Whether a text that reads as a value of this kind is one of the choices, or a number within the bounds.
bool allows(value::Kind kind, const Bounds& bounds, const std::vector<std::string>& choices, const std::string& text);

/// The files and folders that the value of an option names. From it follow the check that no output of a command is
/// something that it reads (cli/options.h), and whether - is allowed.
struct Path {
  enum Kind : std::uint8_t {
    kNone,
    kInputFile,
    kInputRun,  // a run directory, or a checkpoint
    kOutputFile,
    kOutputFolder,
    kOutputRun,  // the run directory to which the command writes
  } kind = kNone;
  bool stream = false;         // text: - is standard input, or standard output
  const char* extension = "";  // of all files that the command writes to a folder
  /// The paths in a value with more than one path; null: the value is the path.
  std::vector<std::filesystem::path> (*in)(const std::string& value) = nullptr;

  bool is_output() const { return kind >= kOutputFile; }
};
inline constexpr Path kInputFile{Path::kInputFile}, kInputText{Path::kInputFile, true}, kInputRun{Path::kInputRun},
    kOutputFile{Path::kOutputFile}, kOutputText{Path::kOutputFile, true};

/// How the texts of one option reach its member of S, and come from there. All are captureless lambdas, so that rows
/// are constants of the program.
template <class S>
struct Field {
  value::Kind kind;
  bool (*read)(const std::string& text, S& options);  // false: not such a value
  std::string (*write)(const S& options);
  std::vector<std::string> (*choices)();
  std::string_view expected{};  // what its values are, where neither choices nor bounds say it
};

template <class S, class T>
S struct_of(T S::*);
template <class S, class T>
T type_of(T S::*);

template <auto member>
constexpr auto field() {
  using S = decltype(struct_of(member));
  using T = decltype(type_of(member));
  return Field<S>{value::kind_of<T>(), [](const std::string& text, S& o) { return value::read(text, o.*member); },
                  [](const S& o) { return value::write(o.*member); }, &value::choices_of<T>};
}

/// What a later attempt of a run may do with an option. kFixed: another value is refused. kFree: any attempt may change
/// it, and the log says from what to what. kFirst: it decides how an empty run begins; afterwards the run keeps the
/// first value and ignores others. kUnsaid: the option belongs to no run.
enum class Later { kUnsaid, kFixed, kFree, kFirst };

/// Properties of an option that most options do not need. Use designated initialisers: {.bounds = kWidth, .in_ini =
/// false}
template <class S>
struct OptionDetails {
  std::string_view group{};  // the title above it in --help and in configuration files; empty: that of the previous row
  std::string_view placeholder{};  // in --help; empty: by kind
  Path path{};
  Bounds bounds{};
  bool in_ini = true;  // part of the configuration file that repeats a run
  Later later = Later::kUnsaid;
};

template <class S>
struct Option {
  std::string_view name;  // the name of the member, with dashes
  std::string_view help;  // a phrase that begins in lower case, without full stop
  Field<S> field;
  OptionDetails<S> more{};

  std::string expected() const {
    return field.expected.empty() ? expected_of(field.kind, more.bounds, field.choices()) : std::string(field.expected);
  }
};

/// A combination of options that makes no sense. In the texts {name} stands for the value of the option of this name,
/// or for a number that Derived gives.
template <class S>
struct Rule {
  bool (*broken)(const S&);
  std::string_view what, why, choose;  // "cell = mlp with a state of odd width", "its hidden layer ...", "choose ..."
};
template <class S>
struct Derived {
  std::string_view name;
  std::string (*text)(const S&);
};

/// `text` with each {name} replaced by what `value` makes of the name.
std::string filled(std::string_view text, const std::function<std::string(std::string_view name)>& value);

/// Option names and values, as in config.ini and in a checkpoint's /config.
using Config = std::map<std::string, std::string>;

template <class S>
Config record_of(std::span<const Option<S>> rows, const S& options) {
  Config record;
  for (const Option<S>& row : rows) record.emplace(row.name, row.field.write(options));
  return record;
}

/// A row of a table whose options say what a later attempt may do with them.
template <class S>
constexpr Option<S> row(Later later, std::string_view name, std::string_view help, Field<S> field,
                        OptionDetails<S> more = {}) {
  more.later = later;
  return {name, help, field, more};
}
/// For static_assert: whether every row says what a later attempt may do with its option.
template <class S>
constexpr bool all_say_what_is_later(std::span<const Option<S>> rows) {
  return std::none_of(rows.begin(), rows.end(), [](const Option<S>& row) { return row.more.later == Later::kUnsaid; });
}

/// Sets the options that `record` holds. Throws Error, beginning with `location`, for a missing option and for a value
/// that cannot be read.
template <class S>
void read_record(std::span<const Option<S>> rows, const Config& record, const std::string& location, S& options) {
  for (const Option<S>& row : rows) {
    const auto found = record.find(std::string(row.name));
    if (found == record.end())
      throw Error("{} lacks {}, so another version of rnnsearch wrote it; use that one", location, row.name);
    if (!row.field.read(found->second, options))
      throw Error("{} says {} = '{}', expected {}", location, row.name, found->second, row.expected());
  }
}

/// Throws Error for a number out of its bounds. Also for structs that were not filled by a command line.
template <class S>
void check_bounds(std::span<const Option<S>> rows, const std::string& location, const S& options) {
  for (const Option<S>& row : rows) {
    const std::string text = row.field.write(options);
    if (allows(row.field.kind, row.more.bounds, row.field.choices(), text)) continue;
    throw Error("{}{} is {}; it must be {}", location, row.name, text, row.expected());
  }
}

/// Throws Error for the first rule that is broken.
template <class S>
void check_rules(std::span<const std::type_identity_t<Rule<S>>> rules, std::span<const Option<S>> rows,
                 std::span<const std::type_identity_t<Derived<S>>> derived, const std::string& location,
                 const S& options) {
  const auto value = [&](std::string_view name) -> std::string {
    for (const Option<S>& row : rows) {
      if (row.name == name) return row.field.write(options);
    }
    for (const Derived<S>& one : derived) {
      if (one.name == name) return one.text(options);
    }
    return fmt::format("{{{}}}", name);
  };
  for (const Rule<S>& rule : rules) {
    if (!rule.broken(options)) continue;
    throw Error("{}{} makes no sense: {}; {}", location, filled(rule.what, value), filled(rule.why, value),
                filled(rule.choose, value));
  }
}

}  // namespace rnnsearch

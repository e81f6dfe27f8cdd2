// Options. An option is declared once, where OptionList::add binds it to a field of a struct. The command line, --help,
// configuration files, the record in checkpoints and the checks of structs that no command line filled all read this
// declaration. Beside a struct of options stands declare(OptionList&, TheStruct&), which adds all of its options. Rules
// across several options are rows of a constexpr table.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
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
///   constexpr auto names_of(Cell) { return in_order<Cell>({"gru", "lstm", "tanh", "mlp"}); }
template <class E>
struct Named {
  E value;
  std::string_view name;
};
template <class E>
Named(E, const char*) -> Named<E>;
/// The names of all enumerators, in their order.
template <class E, std::size_t N>
constexpr std::array<Named<E>, N> in_order(const std::string_view (&names)[N]) {
  std::array<Named<E>, N> all{};
  for (std::size_t i = 0; i < N; ++i) all[i] = {static_cast<E>(i), names[i]};
  return all;
}

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

/// A number that grows or falls linearly during a training, and then stays. As text: 0.2, or 0:0.2@6000 for from 0 to
/// 0.2 during the first 6,000 updates.
struct Ramp {
  double from = 0, to = 0;
  std::uint64_t updates = 0;  // 0: it is `to` all the time, and `from` is the same

  constexpr Ramp() = default;
  constexpr Ramp(double number) : from(number), to(number) {}  // NOLINT(google-explicit-constructor)
  constexpr Ramp(double first, double last, std::uint64_t length) : from(first), to(last), updates(length) {}

  /// In an update, which are counted from 1.
  double at(std::uint64_t update) const {
    if (updates == 0 || update > updates) return to;
    return from + (to - from) * std::max(0.0, (static_cast<double>(update) - 1) / static_cast<double>(updates));
  }
  double largest() const { return std::max(from, to); }
  friend bool operator==(const Ramp&, const Ramp&) = default;
};

/// Text to value and back. `read` returns false when the text is not such a value; `write(x)` reads back as x.
namespace value {
bool read(const std::string& text, bool& field);  // true, false, yes, no, on, off, 1, 0
bool read(const std::string& text, Ramp& field);
bool read(const std::string& text, std::vector<std::uint64_t>& field);  // 10,20,30
template <class Number>
requires std::is_arithmetic_v<Number>
bool read(const std::string& text, Number& field) {  // finite
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) return false;
  }
  field = number;
  return true;
}
template <class Text>
requires std::is_convertible_v<Text, std::string>
bool read(const std::string& text, Text& field) {  // a std::string or a path
  field = text;
  return true;
}
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
std::string write(const Ramp& field);
std::string write(const std::vector<std::uint64_t>& field);
template <class Number>
requires std::is_arithmetic_v<Number> std::string write(
    Number field) {  // the shortest text that reads back as the same bits
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, field).ptr};
}
template <class Text>
requires std::is_convertible_v<Text, std::string> std::string write(const Text& field) { return field; }
template <NamedEnum E>
std::string write(E field) {
  return name_of(field);
}

enum class Kind { kSwitch, kInteger, kNumber, kRamp, kText, kIntegers };
template <class T>
constexpr Kind kind_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return Kind::kSwitch;
  } else if constexpr (std::is_integral_v<T>) {
    return Kind::kInteger;
  } else if constexpr (std::is_floating_point_v<T>) {
    return Kind::kNumber;
  } else if constexpr (std::is_same_v<T, Ramp>) {
    return Kind::kRamp;
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

/// What a later attempt of a run may do with an option. kFixed: another value is refused. kFree: any attempt may change
/// it, and the log says from what to what. kFirst: it decides how an empty run begins; afterwards the run keeps the
/// first value and ignores others. kUnsaid: the option belongs to no run.
enum class Later { kUnsaid, kFixed, kFree, kFirst };

/// What `OptionList::add` takes behind the field: Bounds, a Path, Later and these where they are needed, and the help.
struct Placeholder {
  std::string_view text;  // of the value in --help
};
struct Choices {
  std::vector<std::string> names;  // the values of a text
};
enum class Mark { kRequired, kBasic, kNotRecorded };
using enum Mark;  // the command needs it; -h shows it; it is no part of the configuration file that repeats a run
constexpr Bounds at_least(double from) { return {.from = from}; }
constexpr Bounds within(double from, double to) { return {.from = from, .to = to}; }

struct Option {
  std::string name;    // the name of the field, with dashes
  std::string group;   // the title above it in --help and in configuration files
  std::string help{};  // a phrase that begins in lower case, without full stop
  value::Kind kind = value::Kind::kText;
  std::function<bool(const std::string&)> read{};     // sets the field; false: not such a value
  std::function<std::vector<std::string>()> write{};  // the field's values: several if repeatable, none if not given
  std::function<void()> clear{};                      // only of an option that may be repeated
  std::string placeholder{};                          // in --help; empty: by path, choices or kind
  Path path{};
  Bounds bounds{};
  std::vector<std::string> choices{};  // empty: any
  std::string expected_text{};         // what its values are, where neither choices nor bounds say it
  bool required = false, basic = false, recorded = true;
  Later later = Later::kUnsaid;
  std::string default_text{};

  bool repeatable() const { return clear != nullptr; }
  std::string expected() const { return expected_text.empty() ? expected_of(kind, bounds, choices) : expected_text; }
  /// The first value; empty if there is none.
  std::string text() const;

  void set(std::string text) { help = std::move(text); }
  void set(const Placeholder& shown) { placeholder = shown.text; }
  void set(Choices offered) { choices = std::move(offered.names); }
  void set(Mark mark) {
    required = required || mark == kRequired;
    basic = basic || mark != kNotRecorded;
    recorded = recorded && mark != kNotRecorded;
  }
  void set(const Bounds& allowed) { bounds = allowed; }
  void set(const Path& named) { path = named; }
  void set(Later word) { later = word; }
};

/// Option names and values, as in config.ini and in a checkpoint's /config.
using Config = std::map<std::string, std::string>;

/// Options that are bound to fields, which outlive the list.
class OptionList {
 public:
  /// Options that are added after this call have this title.
  void group(std::string title) { group_ = std::move(title); }

  /// The present value of `field` is the default. A bool is a switch, an enum with names offers these, a std::optional
  /// stays empty unless the option is given, and a std::vector<std::string> may be given several times.
  template <class T, class... More>
  void add(std::string name, T& field, const More&... more) {
    Option option{std::move(name), group_};
    bind(option, field);
    (option.set(more), ...);
    add(std::move(option));
  }
  /// An option that reads and writes its field in its own way. It is placed behind the others of its group.
  void add(Option option);

  const std::vector<Option>& rows() const { return options_; }
  /// Null if there is none of this name.
  const Option* find(std::string_view name) const;

  Config record() const;
  /// Sets the fields from a record. Throws Error, beginning with `location`, for a missing option and for a value that
  /// cannot be read.
  void read_record(const Config& record, const std::string& location);
  /// Throws Error, beginning with `location`, for a number out of its bounds.
  void check_bounds(const std::string& location) const;

 protected:
  const std::string& group() const { return group_; }

 private:
  template <class T>
  static void bind(Option& option, T& field) {
    option.kind = value::kind_of<T>();
    option.choices = value::choices_of<T>();
    option.read = [&field](const std::string& text) { return value::read(text, field); };
    option.write = [&field] { return std::vector<std::string>{value::write(field)}; };
  }
  template <class T>
  static void bind(Option& option, std::optional<T>& field) {
    option.kind = value::kind_of<T>();
    option.choices = value::choices_of<T>();
    option.read = [&field](const std::string& text) { return value::read(text, field.emplace()); };
    option.write = [&field] {
      return field ? std::vector<std::string>{value::write(*field)} : std::vector<std::string>{};
    };
  }
  static void bind(Option& option, std::vector<std::string>& field) {
    option.read = [&field](const std::string& text) { return field.push_back(text), true; };
    option.write = [&field] { return field; };
    option.clear = [&field] { field.clear(); };
  }

  std::string group_ = "Options";
  std::vector<Option> options_;
};

/// The options of a struct, bound to it.
template <class S>
OptionList options_of(S& options) {
  OptionList list;
  declare(list, options);
  return list;
}

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

/// Throws Error, beginning with `location`, for a number out of its bounds, and for the first rule that is broken.
template <class S>
void check_options(S options, std::span<const Rule<S>> rules, std::span<const Derived<S>> derived,
                   const std::string& location) {
  const OptionList list = options_of(options);
  list.check_bounds(location);
  const auto value = [&](std::string_view name) -> std::string {
    if (const Option* const option = list.find(name)) return option->text();
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

/// The text without the spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

/// Configuration files (INI) are lines `key = value`.
/// A # begins a comment at the beginning of a line and after white space. White space around keys and values is left
/// out. A value that begins with " or ' ends at the next such quote: between them white space and # are part of the
/// value, and two quotes stand for one. A quote elsewhere is a character like any other.
/// The keys and values of such a file in their order; a key may occur several times. `name` is for errors.
/// Throws UsageError for a line without =, for a quote that does not end, and for control characters.
std::vector<std::pair<std::string, std::string>> read_ini(const std::string& text, const std::string& name);

/// A value as a configuration file holds it, with quotes if it needs them: read_ini gets the same value back. Throws
/// UsageError, naming the key, for control characters.
std::string ini_line(const std::string& key, const std::string& value);

}  // namespace rnnsearch

// The options of one command: declared once, bound onto the fields of settings structs, read from the command line, a
// configuration file (INI) and a preset, shown by --help, and rendered back as the INI file that repeats the run.
// An option's name is its field's name with dashes. Precedence: command line, --config, --preset, the field's default.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rnnsearch/base/option.h"

namespace rnnsearch::cli {

/// The arguments that follow the command's name on the command line.
using Arguments = std::vector<std::string>;

/// The properties of an option besides its name and field. Use designated initialisers: {.help = "...", .low = 1}
struct About {
  std::string help{};                  // a phrase that begins in lower case, without full stop
  std::string value{};                 // its placeholder in --help: NAME ...; empty: by path or type (FILE, N, TEXT)
  Path path{};                         // what it names, if it is a file or a folder
  bool required = false;               // refuse to run without it
  bool recorded = true;                // part of ini(); false for what says how to run, not what
  Later later = Later::kUnsaid;        // of train: what a later attempt may do with it
  std::vector<std::string> choices{};  // of a text: the values there are; empty: any
  double low = -std::numeric_limits<double>::infinity();  // of a number, both ends included
  double high = std::numeric_limits<double>::infinity();
};

/// Runs checks of values that options have set, and rethrows their Errors as UsageErrors.
void check_usage(const std::function<void()>& checks);

class Options {
 public:
  /// `about`: what the command does and needs, shown under the usage line of --help.
  Options(std::string command, std::string about);

  /// Options declared after this call are listed under this title in --help and in ini().
  void group(std::string title);

  /// Declares the rows of a table, except those named. The present values of `settings`, which must outlive this
  /// object, are the defaults.
  template <class S>
  void take(std::span<const Option<S>> rows, S& settings, std::initializer_list<std::string_view> without = {}) {
    for (const Option<S>& row : rows) {
      if (!row.more.group.empty()) group(std::string(row.more.group));
      if (std::find(without.begin(), without.end(), row.name) != without.end()) continue;
      declare({std::string(row.name),
               group_,
               {.help = std::string(row.help),
                .value = std::string(row.more.placeholder),
                .path = row.more.path,
                .recorded = row.more.in_ini,
                .later = row.more.later,
                .choices = row.field.choices()},
               row.field.kind,
               false,
               false,
               [&row, &settings](const std::string& text) { return row.field.read(text, settings); },
               [&row, &settings] { return written(row.field, settings); },
               {},
               row.more.bounds,
               row.field.expected});
    }
  }
  /// The field's present value is the default. The field outlives this. A bool is a switch: --name, --name=false or
  /// --name false. An enum with names offers these.
  template <class T>
  void add(const std::string& name, T& field, About about) {
    if (about.choices.empty()) about.choices = value::choices_of<T>();
    declare({name, group_, std::move(about), value::kind_of<T>(), false, false,
             [&field](const std::string& text) { return value::read(text, field); },
             [&field] { return std::vector<std::string>{value::write(field)}; }});
  }
  /// An option without a default: the field stays empty unless the option is given.
  template <class T>
  void add(const std::string& name, std::optional<T>& field, About about) {
    if (about.choices.empty()) about.choices = value::choices_of<T>();
    declare({name, group_, std::move(about), value::kind_of<T>(), false, false,
             [&field](const std::string& text) { return value::read(text, field.emplace()); },
             [&field] { return field ? std::vector<std::string>{value::write(*field)} : std::vector<std::string>{}; }});
  }
  /// May be repeated; what is given on the command line replaces a configuration file's list, not adds to it.
  void add(const std::string& name, std::vector<std::string>& field, About about);
  /// Offers --preset NAME: the files of pipelines/presets, which the program carries inside.
  void offer_presets();
  /// Lets --help say which options are fixed, and which decide only how a run begins.
  void explain_later() { explains_later_ = true; }
  /// What a later attempt may do with each option, by name, except for --help, --config and --preset.
  std::map<std::string, Later> later() const;
  /// The first argument may be the value of this option, without its name.
  void first_argument_of(std::string name);

  /// Sets the fields. False when --help was asked for, and was printed: the command then returns 0. Of an option that
  /// the command line has several times, the last value counts. Throws UsageError, in one sentence, for unknown options
  /// and keys (with the nearest name), values that are empty, of the wrong type or out of range, keys given twice in a
  /// file, required options missing, stray arguments, and paths that check_paths refuses; Error for a configuration
  /// file that cannot be read.
  bool parse(const Arguments& arguments);
  /// Those that were parsed last, as they were given.
  const Arguments& arguments() const { return arguments_; }

  /// After parse: --check was given, and the command must only say what is wrong.
  bool only_checks() const { return only_checks_; }
  /// After parse: was it set by the command line, the configuration file or the preset?
  bool given(const std::string& name) const { return from_.contains(name); }
  /// The options of one group.
  std::vector<std::string> names_in(const std::string& group) const;
  /// The options of one group that were set, in the order of their declaration.
  std::vector<std::string> given_in(const std::string& group) const;
  /// Name and value of every recorded option as it stands now; repeated ones several times.
  std::vector<std::pair<std::string, std::string>> values() const;
  /// The same as an INI file: `--config` with it repeats the run. Throws Error for a value that an INI file cannot
  /// hold.
  std::string ini() const;
  std::string help() const;
  /// The properties of every option by its name.
  std::map<std::string, About> abouts() const;

 private:
  /// The value of a row; none where it is an empty text that does not read back: an optional number without a value.
  template <class S>
  static std::vector<std::string> written(const Field<S>& field, const S& settings) {
    std::string text = field.write(settings);
    if (S copy = settings; text.empty() && !field.read(text, copy)) return {};
    return {std::move(text)};
  }
  struct Declared {
    std::string name, group;
    About about;
    value::Kind kind;
    bool repeatable;
    bool built_in;  // --help, --config, --preset: read before the fields are set
    std::function<bool(const std::string&)> read;
    std::function<std::vector<std::string>()> write;
    std::function<void()> clear{};  // repeatable ones
    Bounds bounds{.from = about.low, .to = about.high};
    std::string_view expected{};  // as that of a Field
    std::string default_text{};
  };
  struct Source {      // who gives values: the command line, or a file
    std::string name;  // empty: the command line
    std::vector<std::pair<std::string, std::string>> values{};
  };

  void declare(Declared option);
  const Declared* find(const std::string& name) const;
  Source read_command_line(const Arguments& arguments) const;
  Source read_keys(const std::string& text, const std::string& name) const;
  /// Throws UsageError for an empty value.
  void note(Source& source, const std::string& name, const std::string& text) const;
  void check_all_paths(const std::optional<std::string>& config) const;
  void apply(const Source& source);
  std::string location(const Source& source, const std::string& option) const;
  [[noreturn]] void refuse_unknown(const Source& source, const std::string& name) const;

  std::string command_, about_, group_ = "Options", first_argument_;
  bool explains_later_ = false;
  Arguments arguments_;
  bool only_checks_ = false;
  std::vector<Declared> options_;
  std::map<std::string, std::string> from_;  // option -> the source that set it
};

}  // namespace rnnsearch::cli

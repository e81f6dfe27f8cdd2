// The options of one command: bound onto the fields of settings structs, read from the command line, a configuration
// file (INI) and a preset, shown by --help, and rendered back as the INI file that repeats the run. Precedence: command
// line, --config, --preset, the field's default.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/base/option.h"

namespace rnnsearch::cli {

/// The arguments that follow the command's name on the command line.
using Arguments = std::vector<std::string>;

/// Runs checks of values that options have set, and rethrows their Errors as UsageErrors.
void check_usage(const std::function<void()>& checks);

/// A path that an option names.
struct GivenPath {
  std::string option;  // for errors: "--output", or "c.ini: output"
  Path as;
  std::filesystem::path path;
};

/// Throws UsageError
/// - for a path that is empty, and for - where the option takes no stream;
/// - for an output that is an input or another output, or would be under a name that the command derives from an
///   output: NAME.partial, .NAME.tmp-*, a file in an output folder. Files are told apart by device and inode, and those
///   that do not exist by their folder and name, through symbolic links;
/// - for an output among the files of a run (train::run_that_has), except for kOutputRun.
void check_paths(const std::vector<GivenPath>& paths);

class Options : public OptionList {
 public:
  /// `about`: what the command does and needs, in sentences, of which -h shows the first. `example`: the arguments of
  /// an invocation.
  Options(std::string command, std::string about, std::string example);

  /// Offers --preset NAME: the files of pipelines/presets, which the program carries inside.
  void offer_presets();
  /// Lets --help say which options are fixed, and which decide only how a run begins.
  void explain_later() { explains_later_ = true; }
  /// The first argument may be the value of this option, without its name.
  void first_argument_of(std::string name);

  /// Sets the fields. False when --help or -h was asked for, and was printed: the command then returns 0. Of an option
  /// that the command line has several times, the last value counts. Throws UsageError, in one sentence, for unknown
  /// options and keys (with the nearest name), values that are empty, of the wrong type or out of range, keys given
  /// twice in a file, required options missing, stray arguments, and paths that check_paths refuses; Error for a
  /// configuration file that cannot be read.
  bool parse(const Arguments& arguments);
  /// After parse: throws Error where an option names an output file that cannot be made or replaced.
  void check_outputs() const;
  /// Those that were parsed last, as they were given.
  const Arguments& arguments() const { return arguments_; }

  /// After parse: --check was given, and the command must only say what is wrong.
  bool only_checks() const { return only_checks_; }
  /// After parse: was it set by the command line, the configuration file or the preset?
  bool given(const std::string& name) const { return from_.contains(name); }
  /// After parse: throws UsageError for the first of these options that was given, if `idle`. In `why` {0} is its name.
  void refuse(bool idle, std::initializer_list<const char*> names, const std::string& why) const;
  /// After parse: throws UsageError if two values of one of these options are the same file, through links too.
  void check_each_once(std::initializer_list<const char*> names) const;
  /// The options of one group that were set, in the order of their declaration.
  std::vector<std::string> given_in(const std::string& group) const;
  /// Name and value of every recorded option as it stands now; repeated ones several times.
  std::vector<std::pair<std::string, std::string>> values() const;
  /// The same as an INI file: `--config` with it repeats the run. Throws Error for a value that an INI file cannot
  /// hold.
  std::string ini() const;
  std::string help() const;
  /// What -h prints: the first sentence, the example, and the options that are required or kBasic.
  std::string short_help() const;

 private:
  struct Source {      // who gives values: the command line, or a file
    std::string name;  // empty: the command line
    std::vector<std::pair<std::string, std::string>> values{};
  };

  /// An option that sets no field: parse() itself asks for it.
  void add_built_in(Option option);
  Source read_command_line(const Arguments& arguments) const;
  Source read_keys(const std::string& text, const std::string& name) const;
  /// Throws UsageError for an empty value.
  void note(Source& source, const std::string& name, const std::string& text) const;
  void check_all_paths(const std::optional<std::string>& config) const;
  void apply(const Source& source);
  std::string location(const Source& source, const std::string& option) const;
  [[noreturn]] void refuse_unknown(const Source& source, const std::string& name) const;

  std::string command_, about_, example_, first_argument_;
  bool explains_later_ = false;
  Arguments arguments_;
  bool only_checks_ = false;
  std::map<std::string, std::string> from_;  // option -> the source that set it
};

}  // namespace rnnsearch::cli

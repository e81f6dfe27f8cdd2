#include "rnnsearch/cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "cli/options/help.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/base/signals.h"

namespace rnnsearch::cli {
namespace {

bool is_of_command_line(const std::string& option) {
  return option == "help" || option == "check" || option == "config";
}

/// The files that its values name.
std::vector<std::filesystem::path> paths_of(const Option& option) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& text : option.write()) {
    if (text.empty()) continue;  // not given
    const auto in = option.path.in ? option.path.in(text) : std::vector<std::filesystem::path>{text};
    paths.insert(paths.end(), in.begin(), in.end());
  }
  return paths;
}

[[noreturn]] void refuse_without_value(const std::string& location) {
  throw UsageError(location +
                   " needs a value: it is missing or empty, perhaps because a variable is not set; give one, or leave "
                   "the option out");
}

}  // namespace

void check_usage(const std::function<void()>& checks) {
  try {
    checks();
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

Options::Options(std::string command, std::string about, std::string example)
    : command_(std::move(command)), about_(std::move(about)), example_(std::move(example)) {
  add_built_in({.name = "help",
                .group = "General",
                .help = "show this help and exit; -h shows the options that one needs first",
                .kind = value::Kind::kSwitch});
  add_built_in({.name = "check",
                .group = "General",
                .help = "say what is wrong with the command and exit; nothing is written. All commands check their "
                        "options, train and prepare also their files",
                .kind = value::Kind::kSwitch});
  add_built_in({.name = "config",
                .group = "General",
                .help = "read options from this INI file; the command line takes precedence",
                .path = kInputFile});
}

void Options::add_built_in(Option option) {
  option.write = [] { return std::vector<std::string>{}; };
  option.recorded = false;
  add(std::move(option));
}

void Options::offer_presets() {
  std::string names;
  for (const Preset& preset : presets()) names += std::string(names.empty() ? "" : ", ") + preset.name;
  add_built_in({.name = "preset",
                .group = "General",
                .help = "start from these settings; --config and the command line take precedence: " + names,
                .placeholder = "NAME",
                .basic = true});
}

void Options::first_argument_of(std::string name) {
  first_argument_ = std::move(name);
}

std::string Options::location(const Source& source, const std::string& option) const {
  return source.name.empty() ? "--" + option : source.name + ": " + option;
}

void Options::refuse_unknown(const Source& source, const std::string& name) const {
  std::vector<std::string> names;
  for (const Option& option : rows()) {
    if (source.name.empty()) {
      names.push_back("--" + option.name);
    } else if (!is_of_command_line(option.name)) {
      names.push_back(option.name);
    }
  }
  const std::string advice = "rnnsearch " + command_ + " --help names them all";
  if (source.name.empty()) throw UsageError("unknown option '" + name + "'" + suggestion(name, names, advice));
  throw UsageError(source.name + ": unknown key '" + name + "'" + suggestion(name, names, advice));
}

Options::Source Options::read_command_line(const Arguments& arguments) const {
  Source source;
  bool only_switches = !first_argument_.empty();  // so far: the value of that option may follow without its name
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    if (*argument == "--" && ++argument == arguments.end()) break;
    if (only_switches && !argument->starts_with("--")) {
      note(source, first_argument_, *argument);
      only_switches = false;
      continue;
    }
    if (!argument->starts_with("--")) {
      throw UsageError("unexpected argument '" + *argument + "': options begin with --");
    }
    const std::size_t equals = argument->find('=');
    const std::string name = argument->substr(2, equals - 2);
    const Option* const option = find(name);
    if (!option) refuse_unknown(source, "--" + name);
    const auto next = argument + 1;
    const bool is_switch = option->kind == value::Kind::kSwitch;
    if (equals != argument->npos) {
      note(source, name, argument->substr(equals + 1));
    } else if (is_switch && (next == arguments.end() || next->starts_with("--") ||
                             (only_switches && !next->empty() && *next != "true" && *next != "false"))) {
      note(source, name, "true");
    } else if (next == arguments.end() || (next->starts_with("--") && find(next->substr(2)))) {
      refuse_without_value("--" + name);
    } else {
      note(source, name, *++argument);
    }
    only_switches = only_switches && is_switch && equals == std::string::npos;
  }
  return source;
}

Options::Source Options::read_keys(const std::string& text, const std::string& name) const {
  Source source{name};
  for (const auto& [key, value] : read_ini(text, name)) {
    if (!find(key) || is_of_command_line(key)) refuse_unknown(source, key);
    note(source, key, value);
  }
  return source;
}

void Options::note(Source& source, const std::string& name, const std::string& text) const {
  if (text.empty()) refuse_without_value(location(source, name));
  source.values.emplace_back(name, text);
}

void Options::apply(const Source& source) {
  std::set<std::string> seen;
  for (const auto& [name, text] : source.values) {
    const Option& option = *find(name);
    if (!seen.insert(name).second && !option.repeatable() && !source.name.empty()) {
      throw UsageError(location(source, name) + " is given twice");
    }
    if (!option.read) continue;
    if (option.repeatable() && from_[name] != location(source, name)) option.clear();
    from_[name] = location(source, name);
    if (!allows(option.kind, option.bounds, option.choices, text) || !option.read(text)) {
      throw UsageError("{} is '{}' but must be {}", location(source, name), text, option.expected());
    }
  }
}

void Options::check_all_paths(const std::optional<std::string>& config) const {
  std::vector<GivenPath> paths;
  if (config) paths.push_back({"--config", kInputFile, *config});
  for (const Option& option : rows()) {
    const Path& as = option.path;
    if (as.kind == Path::kNone) continue;
    const auto from = from_.find(option.name);
    for (std::filesystem::path& path : paths_of(option)) {
      paths.push_back({from == from_.end() ? "--" + option.name : from->second, as, std::move(path)});
    }
  }
  check_paths(paths);
}

bool Options::parse(const Arguments& arguments) {
  arguments_ = arguments;
  for (const bool all : {true, false}) {
    if (std::find(arguments.begin(), arguments.end(), all ? "--help" : "-h") == arguments.end()) continue;
    std::cout << (all ? help() : short_help());
    return false;
  }
  const auto value_of = [](const Source& source, const std::string& name) -> std::optional<std::string> {
    std::optional<std::string> last;
    for (const auto& [key, text] : source.values) {
      if (key == name) last = text;
    }
    return last;
  };
  const Source command_line = read_command_line(arguments);
  only_checks_ = value_of(command_line, "check") == "true";
  Source file;
  const auto config = value_of(command_line, "config");
  if (config) {
    check_paths({{"--config", kInputFile, *config}});
    const std::string text = read_file(*config, stop_if_signal_came);
    check_usage([&] { file = read_keys(checked_text(text, *config), *config); });
  }
  auto preset = value_of(command_line, "preset");
  if (!preset) preset = value_of(file, "preset");
  std::vector<Source> from_presets;  // a preset may name another, some of whose values it changes
  for (; preset; preset = value_of(from_presets.back(), "preset")) {
    std::vector<std::string> names;
    const Preset* found = nullptr;
    for (const Preset& candidate : presets()) {
      names.push_back(candidate.name);
      if (candidate.name == *preset) found = &candidate;
    }
    if (!found)
      throw UsageError("unknown preset '{}'{}", *preset,
                       suggestion(*preset, names, "there are " + fmt::to_string(fmt::join(names, ", "))));
    from_presets.push_back(read_keys(found->ini, "preset " + *preset));
  }
  for (auto source = from_presets.rbegin(); source != from_presets.rend(); ++source) apply(*source);
  apply(file);
  apply(command_line);
  for (const Option& option : rows()) {
    if (option.required && !given(option.name)) {
      throw UsageError("--" + option.name + " is missing: " + option.help);
    }
  }
  check_all_paths(config);
  return true;
}

void Options::refuse(bool idle, std::initializer_list<const char*> names, const std::string& why) const {
  for (const char* name : names) {
    if (idle && given(name)) throw UsageError(fmt::format(fmt::runtime(why), name));
  }
}

void Options::check_each_once(std::initializer_list<const char*> names) const {
  for (const char* name : names) {
    std::vector<std::filesystem::path> earlier;
    for (const std::filesystem::path& path : paths_of(*find(name))) {
      for (const std::filesystem::path& other : earlier) {
        std::error_code ignored;
        if (other != path && !std::filesystem::equivalent(other, path, ignored)) continue;
        throw UsageError("--{0} {1} and --{0} {2} are the same file, which would count twice; give each file once",
                         name, other, path);
      }
      earlier.push_back(path);
    }
  }
}

std::vector<std::string> Options::names_in(const std::string& group) const {
  std::vector<std::string> names;
  for (const Option& option : rows()) {
    if (option.group == group) names.push_back(option.name);
  }
  return names;
}

std::vector<std::string> Options::given_in(const std::string& group) const {
  std::vector<std::string> names = names_in(group);
  std::erase_if(names, [&](const std::string& name) { return !given(name); });
  return names;
}

std::vector<std::pair<std::string, std::string>> Options::values() const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Option& option : rows()) {
    if (!option.recorded) continue;
    for (std::string& text : option.write()) {
      if (!text.empty()) values.emplace_back(option.name, std::move(text));  // empty: not given
    }
  }
  return values;
}

std::string Options::ini() const {
  std::string text = "# rnnsearch " + command_ + " --config THIS_FILE\n", group;
  for (const Option& option : rows()) {
    if (!option.recorded) continue;
    if (option.group != group) {
      group = option.group;
      text += "\n# " + group + "\n";
    }
    for (const std::string& written : option.write()) {
      if (!written.empty()) text += ini_line(option.name, written);
    }
  }
  return text;
}

std::string Options::help() const {
  return help_text(command_, about_, rows(), explains_later_);
}

std::string Options::short_help() const {
  return short_help_text(command_, about_, example_, rows());
}

}  // namespace rnnsearch::cli

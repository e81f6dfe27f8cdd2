#include "rnnsearch/cli/options.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <iostream>
#include <set>

#include "cli/options/help.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/train/run_directory.h"

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

void Options::first_argument_of(std::string name) { first_argument_ = std::move(name); }

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
  throw UsageError("{} '{}'{}", source.name.empty() ? "unknown option" : source.name + ": unknown key", name,
                   suggestion(name, names, advice));
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
    if (!argument->starts_with("--"))
      throw UsageError("unexpected argument '" + *argument + "': options begin with --");
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
    if (!seen.insert(name).second && !option.repeatable() && !source.name.empty())
      throw UsageError(location(source, name) + " is given twice");
    if (!option.read) continue;
    if (option.repeatable() && from_[name] != location(source, name)) option.clear();
    from_[name] = location(source, name);
    if (!allows(option.kind, option.bounds, option.choices, text) || !option.read(text))
      throw UsageError("{} is '{}' but must be {}", location(source, name), text, option.expected());
  }
}

void Options::check_all_paths(const std::optional<std::string>& config) const {
  std::vector<GivenPath> paths;
  if (config) paths.push_back({"--config", kInputFile, *config});
  for (const Option& option : rows()) {
    const Path& as = option.path;
    if (as.kind == Path::kNone) continue;
    const auto from = from_.find(option.name);
    for (std::filesystem::path& path : paths_of(option))
      paths.push_back({from == from_.end() ? "--" + option.name : from->second, as, std::move(path)});
  }
  check_paths(paths);
}

void Options::check_outputs() const {
  for (const Option& option : rows()) {
    if (option.path.kind != Path::kOutputFile) continue;
    for (const std::filesystem::path& path : paths_of(option))
      if (path != "-") const AtomicFile can_be_made(path);
  }
}

bool Options::parse(const Arguments& arguments) {
  arguments_ = arguments;
  for (const bool all : {true, false}) {
    if (std::ranges::find(arguments, all ? "--help" : "-h") == arguments.end()) continue;
    std::cout << (all ? help() : short_help());
    return false;
  }
  const auto value_of = [](const Source& source, const std::string& name) -> std::optional<std::string> {
    const auto& values = source.values;
    const auto last =
        std::find_if(values.rbegin(), values.rend(), [&](const auto& pair) { return pair.first == name; });
    return last == values.rend() ? std::nullopt : std::optional(last->second);
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
    if (option.required && !given(option.name)) throw UsageError("--" + option.name + " is missing: " + option.help);
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

std::vector<std::string> Options::given_in(const std::string& group) const {
  std::vector<std::string> names;
  for (const Option& option : rows()) {
    if (option.group == group && given(option.name)) names.push_back(option.name);
  }
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

namespace {

namespace fs = std::filesystem;

/// A file or folder: the device and inode of what exists, and below it the names of what does not.
struct FileIdentity {
  ::dev_t device;
  ::ino_t inode;
  fs::path below;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

FileIdentity identity_of(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) return {found.st_dev, found.st_ino, {}};
  std::error_code ignored;
  fs::path there = fs::weakly_canonical(fs::absolute(without_links(path)), ignored), below;
  while (::stat(there.c_str(), &found) != 0 && there.has_relative_path()) {
    below = below.empty() ? there.filename() : there.filename() / below;
    there = there.parent_path();
  }
  return {found.st_dev, found.st_ino, below};
}

/// The path of the file or folder itself: its folders and its name are no symbolic links.
fs::path itself(const fs::path& path) {
  std::error_code ignored;
  fs::path whole = fs::absolute(without_links(path));
  if (!whole.has_filename()) whole = whole.parent_path();
  return fs::weakly_canonical(whole.parent_path(), ignored) / whole.filename();
}

bool is_standard_stream(const GivenPath& given) { return given.path == "-"; }

/// Whether writing `output` may replace `other`.
bool replaces(const GivenPath& output, const GivenPath& other) {
  if (is_standard_stream(output) || is_standard_stream(other))
    return is_standard_stream(output) && is_standard_stream(other) && other.as.is_output();
  if (output.as.kind == Path::kOutputRun && other.as.kind == Path::kInputRun) return false;  // it resumes
  const FileIdentity identity = identity_of(other.path);
  if (identity == identity_of(output.path)) return true;
  const fs::path written = itself(output.path), read = itself(other.path);
  if (output.as.kind == Path::kOutputFolder)
    return read.extension() == output.as.extension && identity_of(read.parent_path()) == identity_of(output.path);
  const std::string name = written.filename().string();
  return identity == identity_of(written.string() + ".partial") ||
         (read.filename().string().starts_with("." + name + ".") &&
          identity_of(read.parent_path()) == identity_of(written.parent_path()));
}

void check_one(const GivenPath& given) {
  const auto& [option, as, path] = given;
  if (path.empty()) throw UsageError("{} has a value without the name of a file; name one", option);
  if (is_standard_stream(given) && !as.stream)
    throw UsageError("{} is '-', which stands for standard {}, and this option takes a {} (one named - is ./-)", option,
                     as.is_output() ? "output" : "input",
                     as.kind == Path::kOutputFolder || as.kind == Path::kOutputRun ? "folder" : "file");
  if (!as.is_output() || is_standard_stream(given)) return;
  const fs::path written =
      as.kind == Path::kOutputFolder ? itself(path) / fmt::format("x{}", as.extension) : itself(path);
  if (const auto run = train::run_that_has(written))
    throw UsageError("{} is {}, where train keeps the files of the run {}; name another place", option, path,
                     run->string());
}

}  // namespace

void check_paths(const std::vector<GivenPath>& paths) {
  for (const GivenPath& given : paths) check_one(given);
  for (const GivenPath& output : paths) {
    for (const GivenPath& other : paths) {
      if (!output.as.is_output() || &other == &output) continue;
      if (!replaces(output, other)) continue;
      if (is_standard_stream(output))
        throw UsageError("{} and {} both go to standard output, where they would mix; name a file for one",
                         output.option, other.option);
      throw UsageError("{} {} would replace {}{}{}; name another {}", output.option, output.path, other.path,
                       other.as.is_output() ? ", which is written for " : ", which is read for ", other.option,
                       output.as.kind == Path::kOutputFolder ? "folder" : "file");
    }
  }
}

}  // namespace rnnsearch::cli

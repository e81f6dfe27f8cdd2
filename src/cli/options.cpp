#include "rnnsearch/cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <iostream>
#include <set>

#include "cli/help.h"
#include "cli/path_check.h"
#include "cli/presets.h"
#include "cli/suggestion.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/ini.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/base/signals.h"

namespace po = boost::program_options;

namespace rnnsearch::cli {
namespace {

std::string placeholder_of(const Path& path) {
  const std::string name = path.kind == Path::kNone                                            ? ""
                           : path.kind == Path::kInputRun                                      ? "RUN|FILE"
                           : path.kind == Path::kOutputFolder || path.kind == Path::kOutputRun ? "FOLDER"
                                                                                               : "FILE";
  return path.stream ? name + "|-" : name;
}

bool is_of_command_line(const std::string& option) {
  return option == "help" || option == "check" || option == "config";
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

Options::Options(std::string command, std::string about) : command_(std::move(command)), about_(std::move(about)) {
  const auto built_in = [&](const char* name, value::Kind kind, const Path& path, const char* help) {
    declare({name,
             "General",
             {.help = help, .path = path, .recorded = false},
             kind,
             false,
             true,
             [](const std::string&) { return true; },
             [] { return std::vector<std::string>{}; }});
  };
  built_in("help", value::Kind::kSwitch, {}, "show this help and exit");
  built_in("check", value::Kind::kSwitch, {},
           "say what is wrong with the command and exit; nothing is written. All commands check their options, train "
           "and prepare also their files");
  built_in("config", value::Kind::kText, kInputFile,
           "read options from this INI file; the command line takes precedence");
}

void Options::offer_presets() {
  std::string names;
  for (const Preset& preset : presets()) names += std::string(names.empty() ? "" : ", ") + preset.name;
  declare({"preset",
           "General",
           {.help = "start from these settings; --config and the command line take precedence: " + names,
            .value = "NAME",
            .recorded = false},
           value::Kind::kText,
           false,
           true,
           [](const std::string&) { return true; },
           [] { return std::vector<std::string>{}; }});
}

void Options::first_argument_of(std::string name) {
  first_argument_ = std::move(name);
}

void Options::group(std::string title) {
  group_ = std::move(title);
}

void Options::add(const std::string& name, std::vector<std::string>& field, About about) {
  declare({name, group_, std::move(about), value::Kind::kText, true, false,
           [&field](const std::string& text) {
             field.push_back(text);
             return true;
           },
           [&field] { return field; }, [&field] { field.clear(); }});
}

void Options::declare(Declared option) {
  option.default_text = fmt::to_string(fmt::join(option.write(), " "));
  if (std::string& placeholder = option.about.value; placeholder.empty())
    placeholder = placeholder_of(option.about.path);
  const auto of_group = [&](const Declared& other) { return other.group == option.group; };
  const auto last = std::find_if(options_.rbegin(), options_.rend(), of_group);
  options_.insert(last == options_.rend() ? options_.end() : last.base(), std::move(option));
}

const Options::Declared* Options::find(const std::string& name) const {
  const auto found = std::find_if(options_.begin(), options_.end(), [&](const Declared& o) { return o.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

std::string Options::location(const Source& source, const std::string& option) const {
  return source.name.empty() ? "--" + option : source.name + ": " + option;
}

void Options::refuse_unknown(const Source& source, const std::string& name) const {
  std::vector<std::string> names;
  for (const Declared& option : options_) {
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
  po::options_description description;
  for (const Declared& option : options_) {
    // all as text: the sentences about values are ours
    auto* semantic = po::value<std::string>();
    if (option.kind == value::Kind::kSwitch) semantic->implicit_value("true");  // --switch, or --switch=value
    description.add_options()(option.name.c_str(), semantic);
  }
  Source source;
  using namespace po::command_line_style;
  try {
    const auto parsed = po::command_line_parser(arguments)
                            .options(description)
                            .style(allow_long | long_allow_adjacent | long_allow_next)
                            .allow_unregistered()
                            .run();
    for (const auto& option : parsed.options) {
      if (option.position_key != -1 || option.string_key.empty()) {
        throw UsageError("unexpected argument '" + option.original_tokens.front() + "': options begin with --");
      }
      if (option.unregistered) {
        const std::string& token = option.original_tokens.front();
        refuse_unknown(source, token.substr(0, token.find('=')));
      }
      const std::string text = option.value.empty() ? "true" : option.value.front();
      if (text.starts_with("--") && option.original_tokens.size() == 2 && find(text.substr(2))) {
        refuse_without_value("--" + option.string_key);
      }
      note(source, option.string_key, text);
    }
  } catch (const po::error_with_option_name& error) {
    refuse_without_value(error.get_option_name());
  }
  return source;
}

Options::Source Options::read_keys(const std::string& text, const std::string& name) const {
  Source source{name};
  for (const auto& [key, value] : read_ini(text, name)) {
    const auto option =
        std::find_if(options_.begin(), options_.end(), [&, &key = key](const Declared& o) { return o.name == key; });
    if (option == options_.end() || is_of_command_line(key)) refuse_unknown(source, key);
    note(source, option->name, value);
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
    const Declared& option = *find(name);
    if (!seen.insert(name).second && !option.repeatable && !source.name.empty()) {
      throw UsageError(location(source, name) + " is given twice");
    }
    if (option.built_in) continue;
    if (option.repeatable && from_[name] != location(source, name)) option.clear();
    from_[name] = location(source, name);
    if (!allows(option.kind, option.bounds, option.about.choices, text) || !option.read(text)) {
      throw UsageError(location(source, name) + " is '" + text + "' but must be " +
                       (option.expected.empty() ? expected_of(option.kind, option.bounds, option.about.choices)
                                                : std::string(option.expected)));
    }
  }
}

void Options::check_all_paths(const std::optional<std::string>& config) const {
  std::vector<GivenPath> paths;
  if (config) paths.push_back({"--config", kInputFile, *config});
  for (const Declared& option : options_) {
    const Path& as = option.about.path;
    if (as.kind == Path::kNone) continue;
    const auto from = from_.find(option.name);
    for (const std::string& text : option.write()) {
      if (text.empty()) continue;  // not given
      for (std::filesystem::path& path : as.in ? as.in(text) : std::vector<std::filesystem::path>{text}) {
        paths.push_back({from == from_.end() ? "--" + option.name : from->second, as, std::move(path)});
      }
    }
  }
  check_paths(paths);
}

bool Options::parse(const Arguments& arguments) {
  arguments_ = arguments;
  if (std::find(arguments.begin(), arguments.end(), "--help") != arguments.end()) {
    std::cout << help();
    return false;
  }
  const auto value_of = [](const Source& source, const std::string& name) -> std::optional<std::string> {
    std::optional<std::string> last;
    for (const auto& [key, text] : source.values) {
      if (key == name) last = text;
    }
    return last;
  };
  Arguments named = arguments;
  if (!first_argument_.empty() && !named.empty() && !named.front().starts_with("--")) {
    named.insert(named.begin(), "--" + first_argument_);
  }
  const Source command_line = read_command_line(named);
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
  for (const Declared& option : options_) {
    if (option.about.required && !given(option.name)) {
      throw UsageError("--" + option.name + " is missing: " + option.about.help);
    }
  }
  check_all_paths(config);
  return true;
}

std::vector<std::string> Options::names_in(const std::string& group) const {
  std::vector<std::string> names;
  for (const Declared& option : options_) {
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
  for (const Declared& option : options_) {
    if (!option.about.recorded) continue;
    for (std::string& text : option.write()) {
      if (!text.empty()) values.emplace_back(option.name, std::move(text));  // empty: not given
    }
  }
  return values;
}

std::map<std::string, Later> Options::later() const {
  std::map<std::string, Later> words;
  for (const Declared& option : options_) {
    if (!option.built_in) words.emplace(option.name, option.about.later);
  }
  return words;
}

std::string Options::ini() const {
  std::string text = "# rnnsearch " + command_ + " --config THIS_FILE\n", group;
  for (const Declared& option : options_) {
    if (!option.about.recorded) continue;
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
  std::vector<HelpRow> rows;
  for (const Declared& option : options_) {
    const Later later = explains_later_ ? option.about.later : Later::kUnsaid;
    const char* const word = later == Later::kFixed ? " (fixed)" : later == Later::kFirst ? " (first)" : "";
    rows.push_back({option.name, option.group, option.about.help + word, option.about.value, option.default_text,
                    option.about.choices, option.kind, option.about.required, option.repeatable});
  }
  return help_text(command_, about_, rows);
}

std::map<std::string, About> Options::abouts() const {
  std::map<std::string, About> abouts;
  for (const Declared& option : options_) abouts.emplace(option.name, option.about);
  return abouts;
}

}  // namespace rnnsearch::cli

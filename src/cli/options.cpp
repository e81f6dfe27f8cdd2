#include "rnnsearch/cli/options.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <iostream>
#include <set>
#include <sstream>

#include "cli/help.h"
#include "cli/presets.h"
#include "cli/suggestion.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/signals.h"

namespace po = boost::program_options;

namespace rnnsearch::cli {
namespace {

bool is_control(unsigned char byte) {
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

/// Whether a value comes back from a configuration file, where # begins a comment, white space around values is left
/// out and control characters are rejected.
bool is_held_by_ini(const std::string& value) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  if (!value.empty() && (is_space(value.front()) || is_space(value.back()))) return false;
  return std::none_of(value.begin(), value.end(),
                      [](char c) { return c == '#' || is_control(static_cast<unsigned char>(c)); });
}

// What nobody can see in a value, and ends it where the system takes texts.
void refuse_control_characters(const std::string& text, const std::string& name) {
  std::size_t line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool ends_line = byte == '\n' || (byte == '\r' && (i + 1 == text.size() || text[i + 1] == '\n'));
    if (byte == '\n') ++line;
    if (ends_line || !is_control(byte)) continue;
    constexpr const char* kDigits = "0123456789abcdef";
    throw UsageError(text_of(name, ": line ", line, " holds the control character 0x",
                             std::string{kDigits[byte / 16], kDigits[byte % 16]},
                             "; a configuration is lines of text, 'key = value': remove it"));
  }
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
  const auto built_in = [&](const char* name, value::Kind kind, const char* placeholder, const char* help) {
    declare({name,
             "General",
             {.help = help, .value = placeholder, .recorded = false},
             kind,
             false,
             true,
             [](const std::string&) { return true; },
             [] { return std::vector<std::string>{}; }});
  };
  built_in("help", value::Kind::kSwitch, "", "show this help and exit");
  built_in("config", value::Kind::kText, "FILE", "read options from this INI file; the command line takes precedence");
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
  for (const std::string& text : option.write()) option.default_text += (option.default_text.empty() ? "" : " ") + text;
  const auto of_group = [&](const Declared& other) { return other.group == option.group; };
  const auto last = std::find_if(options_.rbegin(), options_.rend(), of_group);
  options_.insert(last == options_.rend() ? options_.end() : last.base(), std::move(option));
}

const Options::Declared* Options::find(const std::string& name) const {
  const auto found = std::find_if(options_.begin(), options_.end(), [&](const Declared& o) { return o.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

std::string Options::place(const Source& source, const std::string& option) const {
  return source.name.empty() ? "--" + option : source.name + ": " + option;
}

void Options::refuse_unknown(const Source& source, const std::string& name) const {
  std::vector<std::string> names;
  for (const Declared& option : options_) {
    if (source.name.empty()) {
      names.push_back("--" + option.name);
    } else if (option.name != "help" && option.name != "config") {
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
        throw UsageError("--" + option.string_key + " needs a value");
      }
      source.values.emplace_back(option.string_key, text);
    }
  } catch (const po::error_with_option_name& error) {
    throw UsageError(error.get_option_name() + " needs a value");
  }
  return source;
}

Options::Source Options::read_ini(const std::string& text, const std::string& name) const {
  refuse_control_characters(text, name);
  po::options_description description;
  for (const Declared& option : options_) {
    description.add_options()(option.name.c_str(), po::value<std::string>());
    if (!option.former.empty()) description.add_options()(option.former.c_str(), po::value<std::string>());
  }
  Source source{name};
  try {
    std::istringstream stream(text);
    for (const auto& option : po::parse_config_file(stream, description, true).options) {
      if (option.unregistered || option.string_key == "help" || option.string_key == "config") {
        refuse_unknown(source, option.string_key);
      }
      const auto renamed = std::find_if(options_.begin(), options_.end(),
                                        [&](const Declared& o) { return o.former == option.string_key; });
      source.values.emplace_back(renamed == options_.end() ? option.string_key : renamed->name,
                                 option.value.empty() ? "" : option.value.front());
    }
  } catch (const po::invalid_config_file_syntax& error) {
    throw UsageError(name + ": '" + error.tokens() + "' is not of the form 'key = value'");
  }
  return source;
}

void Options::apply(const Source& source) {
  std::set<std::string> seen;
  for (const auto& [name, text] : source.values) {
    const Declared& option = *find(name);
    if (!seen.insert(name).second && !option.repeatable) throw UsageError(place(source, name) + " is given twice");
    if (option.built_in) continue;
    if (option.repeatable && from_[name] != place(source, name)) option.clear();
    from_[name] = place(source, name);
    if (!allows(option.kind, option.bounds, option.about.choices, text) || !option.read(text)) {
      throw UsageError(place(source, name) + " is '" + text + "' but must be " +
                       (option.expected.empty() ? expected_of(option.kind, option.bounds, option.about.choices)
                                                : std::string(option.expected)));
    }
  }
}

bool Options::parse(const Arguments& arguments) {
  arguments_ = arguments;
  if (std::find(arguments.begin(), arguments.end(), "--help") != arguments.end()) {
    std::cout << help();
    return false;
  }
  const auto value_of = [](const Source& source, const std::string& name) -> std::optional<std::string> {
    for (const auto& [key, text] : source.values) {
      if (key == name) return text;
    }
    return std::nullopt;
  };
  Arguments named = arguments;
  if (!first_argument_.empty() && !named.empty() && !named.front().starts_with("--")) {
    named.insert(named.begin(), "--" + first_argument_);
  }
  const Source command_line = read_command_line(named);
  Source file;
  if (const auto path = value_of(command_line, "config")) file = read_ini(read_file(*path, stop_if_signal_came), *path);
  auto preset = value_of(command_line, "preset");
  if (!preset) preset = value_of(file, "preset");
  if (preset) {
    std::vector<std::string> names;
    const Preset* found = nullptr;
    for (const Preset& candidate : presets()) {
      names.push_back(candidate.name);
      if (candidate.name == *preset) found = &candidate;
    }
    std::string all;
    for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
    if (!found) throw UsageError("unknown preset '" + *preset + "'" + suggestion(*preset, names, "there are " + all));
    apply(read_ini(found->ini, "preset " + *preset));
  }
  apply(file);
  apply(command_line);
  for (const Declared& option : options_) {
    if (option.about.required && !given(option.name)) {
      throw UsageError("--" + option.name + " is missing: " + option.about.help);
    }
  }
  return true;
}

std::vector<std::string> Options::given_in(const std::string& group) const {
  std::vector<std::string> names;
  for (const Declared& option : options_)
    if (option.group == group && given(option.name)) names.push_back(option.name);
  return names;
}

std::vector<std::pair<std::string, std::string>> Options::values() const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Declared& option : options_) {
    if (!option.about.recorded) continue;
    for (std::string& text : option.write()) values.emplace_back(option.name, std::move(text));
  }
  return values;
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
      if (!is_held_by_ini(written)) {
        throw UsageError(
            "--" + option.name + " is '" + written +
            "', which a configuration file cannot hold: choose a value without #, control characters and spaces at its "
            "start or end");
      }
      text += option.name + " = " + written + "\n";
    }
  }
  return text;
}

std::string Options::help() const {
  std::vector<HelpRow> rows;
  for (const Declared& option : options_) {
    rows.push_back({option.name, option.group, option.about.help, option.about.value, option.default_text,
                    option.about.choices, option.kind, option.about.required, option.repeatable});
  }
  return help_text(command_, about_, rows);
}

}  // namespace rnnsearch::cli

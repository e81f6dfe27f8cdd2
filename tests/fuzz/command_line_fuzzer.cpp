// A command line of any command: arguments with a NUL byte behind each, as in /proc/PID/cmdline, beginning with the
// name of the command. What follows --config is the text of the file, unless it is a path below /nowhere. Options are
// parsed and checked as in the command, which does not run then. What must hold is read from the pages of --help: which
// options there are, which of them take values, and which may be repeated.
#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/cli/command.h"
#include "rnnsearch/text/unicode.h"
#include "tests/fuzz/fuzz.h"

namespace rnnsearch::fuzz {
namespace {

using cli::Arguments;
using Values = std::vector<std::pair<std::string, std::string>>;

struct PageEntry {
  bool takes_value, repeatable;
};
using Page = std::map<std::string, PageEntry>;

Page page_of(const std::string& help) {
  Page page;
  constexpr std::string_view kStart = "\n  --";
  for (std::size_t at = help.find(kStart); at != help.npos;) {
    const std::size_t name = at + kStart.size(), end = help.find_first_of(" \n", name);
    at = help.find(kStart, name);
    const std::string entry = help.substr(end, std::min(at, help.size()) - end);
    const bool takes_value = entry.size() > 1 && entry[0] == ' ' && entry[1] != ' ';
    const bool is_new =
        page.emplace(help.substr(name, end - name), PageEntry{takes_value, entry.find("(repeatable)") != entry.npos})
            .second;
    require(is_new, "--help shows an option twice");
  }
  require(page.contains("help") && page.contains("config"), "--help lacks an option");
  return page;
}

const Page& page_of(const cli::Command& command) {
  static std::map<std::string, Page> pages;
  const auto [found, is_new] = pages.try_emplace(command.name);
  if (is_new) found->second = page_of(command.make()->options.help());
  return found->second;
}

/// What is printed to standard output and standard error during its life.
class Capture {
 public:
  Capture() : out_(std::cout.rdbuf(out.rdbuf())), err_(std::cerr.rdbuf(err.rdbuf())) {}
  ~Capture() {
    std::cout.rdbuf(out_);
    std::cerr.rdbuf(err_);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  std::ostringstream out, err;

 private:
  std::streambuf *out_, *err_;
};

void check_sentence(const std::string& sentence) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  require(std::none_of(sentence.begin(), sentence.end(), is_control), "an error with a control character");
  require(!text::first_invalid_utf8(sentence), "an error that is not UTF-8");
  require(sentence.size() <= 4100, "an error of any length");
}

/// The name that an error about an unknown name suggests.
std::optional<std::string> suggested_by(const std::string& sentence) {
  constexpr std::string_view kBefore = ": did you mean '", kBehind = "'?";
  const std::size_t at = sentence.rfind(kBefore);
  if (!sentence.starts_with("unknown ") || !sentence.ends_with(kBehind) || at == sentence.npos) return std::nullopt;
  const std::size_t begin = at + kBefore.size();
  return sentence.substr(begin, sentence.size() - kBehind.size() - begin);
}

/// Whether `act` threw no Error. Nothing may be printed meanwhile.
template <class Act>
bool accepts(const Page& page, Act&& act) {
  std::string sentence;
  const Capture capture;
  const bool good = accepted([&] {
    try {
      act();
    } catch (const Error& error) {
      sentence = error.what();
      throw;
    }
  });
  require(capture.out.str().empty() && capture.err.str().empty(), "something was printed");
  if (good) return true;
  check_sentence(sentence);
  const auto suggested = suggested_by(sentence);
  if (suggested && suggested->starts_with("--")) require(page.contains(suggested->substr(2)), "an unknown suggestion");
  return false;
}

/// The options on the command line, by the rules of the page; none when there is an argument that is no option.
std::optional<Values> read_by(const Page& page, Arguments arguments, bool first_is_file) {
  Values values;
  if (first_is_file && !arguments.empty() && !arguments.front().starts_with("--"))
    arguments.insert(arguments.begin(), "--file");
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--" && i + 1 == arguments.size()) break;  // the end of the options
    if (!argument.starts_with("--")) return std::nullopt;
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(2, equals - std::min<std::size_t>(equals, 2));
    const auto entry = page.find(equals == argument.npos ? argument.substr(2) : name);
    if (entry == page.end()) return std::nullopt;
    if (equals != argument.npos) {
      values.emplace_back(entry->first, argument.substr(equals + 1));
    } else if (!entry->second.takes_value) {
      const bool has_value = i + 1 < arguments.size() && !arguments[i + 1].starts_with("--");
      values.emplace_back(entry->first, has_value ? arguments[++i] : "true");
    } else if (++i < arguments.size()) {
      values.emplace_back(entry->first, arguments[i]);
    } else {
      return std::nullopt;
    }
  }
  return values;
}

template <class T>
std::optional<T> number_in(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool same_number(std::string_view a, std::string_view b) {
  const auto whole_a = number_in<std::uint64_t>(a), whole_b = number_in<std::uint64_t>(b);
  if (whole_a && whole_b) return *whole_a == *whole_b;
  const auto real_a = number_in<double>(a), real_b = number_in<double>(b);
  return real_a && real_b && *real_a == *real_b;
}

/// Whether an option that was given as one text may be shown as the other one: the same number, numbers or switch.
bool same_value(std::string_view given, std::string_view shown) {
  if (given == shown || same_number(given, shown)) return true;
  if (shown == "true") return given == "yes" || given == "on" || given == "1";
  if (shown == "false") return given == "no" || given == "off" || given == "0";
  const std::size_t comma = given.find(','), shown_comma = shown.find(',');
  return comma != given.npos && shown_comma != shown.npos &&
         same_number(given.substr(0, comma), shown.substr(0, shown_comma)) &&
         same_value(given.substr(comma + 1), shown.substr(shown_comma + 1));
}

std::vector<std::string> texts_of(const std::string& name, const Values& values) {
  std::vector<std::string> texts;
  for (const auto& [other, text] : values)
    if (other == name) texts.push_back(text);
  return texts;
}

void check_values(const Page& page, const Values& given, const cli::Options& options) {
  const Values shown = options.values();
  std::set<std::string> names;
  for (const auto& [name, text] : given) {
    names.insert(name);
    if (name == "config" || name == "preset") continue;
    require(options.given(name), "an option was given and is not known to be");
    auto as_given = texts_of(name, given);
    const auto as_shown = texts_of(name, shown);
    if (!page.at(name).repeatable) as_given = {as_given.back()};
    if (as_shown.empty()) continue;  // not recorded
    require(std::equal(as_given.begin(), as_given.end(), as_shown.begin(), as_shown.end(), same_value),
            "a value is not the one that was given");
  }
  if (names.contains("config") || names.contains("preset")) return;
  for (const auto& [name, entry] : page)
    require(names.contains(name) || !options.given(name), "an option counts as given and was not");
}

/// Arguments for what was given and is not among the recorded values.
Arguments not_recorded(const Values& given, const Values& recorded) {
  Arguments arguments;
  for (const auto& [name, text] : given) {
    if (!texts_of(name, recorded).empty()) continue;
    arguments.push_back("--" + name + "=" + text);
    if (text.empty()) arguments.back() = "--" + name, arguments.emplace_back();
  }
  return arguments;
}

/// Parsed again from their arguments, values are the same.
void check_arguments(const cli::Command& command, const Values& given, const Values& values) {
  Arguments arguments = not_recorded(given, values);
  const Arguments recorded = not_recorded(values, {});
  arguments.insert(arguments.end(), recorded.begin(), recorded.end());
  const auto again = command.make();
  require(accepts(page_of(command), [&] { again->options.parse(arguments); }), "values are rejected as arguments");
  require(again->options.values() == values, "values come back as others from arguments");
}

/// Read from a configuration file, values are the same.
void check_ini(const cli::Command& command, const Values& given, const cli::Options& options) {
  std::string ini;
  if (!accepts(page_of(command), [&] { ini = options.ini(); })) {
    const auto cannot_be_held = [](const auto& value) {
      return std::any_of(value.second.begin(), value.second.end(),
                         [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    };
    const Values values = options.values();
    require(std::any_of(values.begin(), values.end(), cannot_be_held), "ini() refuses values without reason");
    return;
  }
  Values others;
  for (const auto& [name, text] : given) {
    if (name == "config") return;  // what the file held and is not recorded would be missing
    if (name != "preset") others.emplace_back(name, text);
  }
  const auto again = command.make();
  Arguments arguments = not_recorded(others, options.values());
  arguments.push_back("--config=" + written("again.ini", ini).string());
  require(accepts(page_of(command), [&] { again->options.parse(arguments); }), "ini() is rejected as --config");
  require(again->options.values() == options.values(), "ini() reads back as something else");
}

/// What is no command, and help, are all of the program; no work begins.
void run_all(const Arguments& arguments, const cli::Command* command) {
  std::vector<const char*> argv{"rnnsearch"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  const std::string name = arguments.empty() ? "" : arguments.front();
  const std::string topic = name == "help" && arguments.size() == 2 ? arguments.back() : name;
  const auto commands = cli::commands();
  const bool informs = command || topic == "--help" || topic == "-h" || topic == "help" || topic == "--version" ||
                       (topic != name && std::any_of(commands.begin(), commands.end(),
                                                     [&](const auto& one) { return one.name == topic; }));
  const Capture capture;
  const int code = cli::run_program(static_cast<int>(argv.size()), argv.data());
  const std::string out = capture.out.str(), err = capture.err.str();
  require(code == (informs ? 0 : cli::kWrongUsage), "the exit code is wrong");
  require(out.empty() == !informs && err.empty() == informs, "standard output and standard error are confused");
  if (command) {
    const auto invocation = command->make();
    const bool all = std::find(arguments.begin(), arguments.end(), "--help") != arguments.end();
    require(out == (all ? invocation->options.help() : invocation->options.short_help()),
            "--help or -h is not the help of the command");
  }
  if (informs || name.empty()) return;
  require(err.ends_with('\n'), "an error without a line end");
  const std::string sentence = err.substr(0, err.size() - 1);
  check_sentence(sentence);
  constexpr std::string_view kWho = "rnnsearch: ";
  require(sentence.starts_with(kWho), "an error that does not say from whom");
  if (const auto suggested = suggested_by(sentence.substr(kWho.size()))) {
    require(std::any_of(commands.begin(), commands.end(), [&](const auto& c) { return c.name == *suggested; }),
            "the suggestion is no command");
  }
}

/// Puts the texts of configuration files into files.
void write_configurations(Arguments& arguments) {
  int files = 0;
  const auto path_of = [&](const std::string& text) {
    return text.starts_with("/nowhere/") ? text : written(fmt::format("config-{}.ini", files++), text).string();
  };
  constexpr std::string_view kName = "--config";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string& argument = arguments[i];
    if (argument == kName && i + 1 < arguments.size()) {
      ++i;
      if (!arguments[i].starts_with("--")) arguments[i] = path_of(arguments[i]);
    } else if (argument.starts_with(fmt::format("{}=", kName))) {
      argument.replace(kName.size() + 1, argument.npos, path_of(argument.substr(kName.size() + 1)));
    }
  }
}

/// The config.ini of a run is accepted by `benchmark`, too.
void check_benchmark(const cli::Options& options) {
  std::string ini;
  const auto commands = cli::commands();
  const auto benchmark = std::find_if(commands.begin(), commands.end(),
                                      [](const auto& c) { return std::string_view(c.name) == "benchmark"; });
  const auto invocation = benchmark->make();
  if (!accepts(page_of(*benchmark), [&] { ini = options.ini(); })) return;
  const std::string argument = "--config=" + written("config.ini", ini).string();
  require(accepts(page_of(*benchmark), [&] { invocation->options.parse({argument}); }),
          "benchmark rejects the config.ini of a run");
}

void fuzz(Arguments arguments) {
  const auto commands = cli::commands();
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [&](const auto& c) { return !arguments.empty() && c.name == arguments.front(); });
  const bool asks_for_help = std::any_of(arguments.begin(), arguments.end(),
                                         [](const std::string& word) { return word == "--help" || word == "-h"; });
  if (command == commands.end() || asks_for_help) {
    run_all(arguments, command == commands.end() ? nullptr : &*command);
    return;
  }
  arguments.erase(arguments.begin());
  write_configurations(arguments);
  const Page& page = page_of(*command);
  const auto invocation = command->make();
  const cli::Options& options = invocation->options;
  if (!accepts(page, [&] { invocation->options.parse(arguments); })) return;
  const auto given = read_by(page, arguments, std::string_view(command->name) == "inspect");
  require(given.has_value(), "arguments were accepted that --help does not have");
  check_values(page, *given, options);
  check_arguments(*command, *given, options.values());
  check_ini(*command, *given, options);
  if (!accepts(page, [&] { invocation->check(); })) return;
  check_arguments(*command, *given, options.values());
  check_ini(*command, *given, options);
  if (std::string_view(command->name) == "train") check_benchmark(options);
}

}  // namespace
}  // namespace rnnsearch::fuzz

void rnnsearch::fuzz::run(Input input) { fuzz(split(input.rest(), '\0')); }

#include "cli/options/help.h"

#include <fmt/format.h>
#include <numeric>
#include <sstream>

namespace rnnsearch::cli {
namespace {

constexpr std::size_t kColumns = 80, kHelpColumn = 26, kChoicesColumn = 6;

std::string placeholder_of(const Option& option) {
  if (!option.placeholder.empty()) return option.placeholder;
  if (!option.choices.empty()) return fmt::to_string(fmt::join(option.choices, "|"));
  switch (option.path.kind) {
    case Path::kNone:
      return option.kind == value::Kind::kInteger    ? "N"
             : option.kind == value::Kind::kNumber   ? "X"
             : option.kind == value::Kind::kRamp     ? "X[:X@N]"
             : option.kind == value::Kind::kIntegers ? "N,N,..."
                                                     : "TEXT";
    case Path::kInputRun:
      return "RUN|FILE";
    case Path::kOutputFolder:
    case Path::kOutputRun:
      return "FOLDER";
    case Path::kInputFile:
    case Path::kOutputFile:
      break;
  }
  return option.path.stream ? "FILE|-" : "FILE";
}

/// "--name PLACEHOLDER", broken between the choices where it is too long for a line.
std::string head_of(const Option& option) {
  std::string head = "  --" + option.name;
  if (option.kind == value::Kind::kSwitch) return head;
  head += ' ';
  std::size_t column = head.size();
  std::istringstream choices(placeholder_of(option));
  for (std::string choice; std::getline(choices, choice, '|');) {
    if (!choices.eof()) choice += '|';
    if (column + choice.size() > kColumns) {
      head.append("\n").append(kChoicesColumn, ' ');
      column = kChoicesColumn;
    }
    head += choice;
    column += choice.size();
  }
  return head;
}

std::string entry(const Option& option, bool explain_later) {
  std::string head = head_of(option), help = option.help;
  const bool fits = head.size() + 2 <= kHelpColumn;
  if (!fits) head += '\n';
  head.append(kHelpColumn - (fits ? head.size() : 0), ' ');
  if (explain_later && option.later == Later::kFixed) help += " (fixed)";
  if (explain_later && option.later == Later::kFirst) help += " (first)";
  if (option.required) help += " (required)";
  if (option.repeatable()) help += " (repeatable)";
  const bool is_off = option.kind == value::Kind::kSwitch && option.default_text == "false";
  if (!option.default_text.empty() && !is_off) help += " [" + option.default_text + "]";
  return head + wrapped(help, kHelpColumn) + "\n";
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t column, const std::string& line_end) {
  std::string lines, word;
  std::size_t at = column;
  for (std::istringstream words(text); words >> word;) {
    if (at > column && at + 1 + word.size() + line_end.size() > kColumns) {
      lines.append(line_end).append("\n").append(column, ' ');
      at = column;
    }
    if (at > column) lines += ' ', ++at;
    lines += word;
    at += word.size();
  }
  return lines;
}

std::string Options::help() const {
  std::string text = "rnnsearch " + command_ + " [--OPTION VALUE]...\n\n" + wrapped(about_, 0) + "\n";
  std::vector<std::string> groups;
  for (const Option& option : rows()) {
    if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
  }
  std::rotate(groups.begin(), groups.begin() + 1, groups.end());  // General, declared first, stands last
  for (const std::string& group : groups) {
    text += "\n" + group + ":\n";
    for (const Option& option : rows()) {
      if (option.group == group) text += entry(option, explains_later_);
    }
  }
  return text;
}

std::string Options::short_help() const {
  std::string usage = fmt::format("rnnsearch {}", command_), basic;
  for (const Option& option : rows()) {
    if (option.required) usage += fmt::format(" --{} {}", option.name, placeholder_of(option));
    if (option.basic) basic += entry(option, false);
  }
  const std::string sentence = about_.substr(0, about_.find(". "));
  return fmt::format(
      "{}\n\n{}{}\n\nExample:\n  {}\n\nThe options that one needs first, of {}:\n{}\n"
      "rnnsearch {} --help explains all options.\n",
      wrapped(usage + " [--OPTION VALUE]...", 4), wrapped(sentence, 0), sentence.ends_with('.') ? "" : ".",
      wrapped(fmt::format("rnnsearch {} {}", command_, example_), 4, " \\"), rows().size(), basic, command_);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearest(std::string_view name, std::span<const std::string> names) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : names) {
    const std::size_t least = std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size());
    if (least >= std::min(best_distance, candidate.size())) continue;  // a name of any length costs no time
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view name, std::span<const std::string> names, const std::string& otherwise) {
  const auto meant = nearest(name, names);
  return meant ? ": did you mean '" + *meant + "'?" : ": " + otherwise;
}

}  // namespace rnnsearch::cli

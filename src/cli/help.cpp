#include "cli/help.h"

#include <algorithm>
#include <sstream>

namespace rnnsearch::cli {
namespace {

// `text` broken at spaces into lines of `width`, each after the first indented.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string lines, word;
  std::size_t column = 0;
  for (std::istringstream words(text); words >> word;) {
    if (column > 0 && column + 1 + word.size() > width) {
      lines += "\n" + std::string(indent, ' ');
      column = 0;
    }
    if (column > 0) lines += ' ', ++column;
    lines += word;
    column += word.size();
  }
  return lines;
}

constexpr std::size_t kHelpIndent = 32, kHelpWidth = 110;

}  // namespace

std::string help_text(const std::string& command, const std::string& about, std::span<const HelpRow> rows) {
  std::string text = "rnnsearch " + command + " [--OPTION VALUE]...\n\n" + wrapped(about, 0, kHelpWidth) + "\n";
  std::vector<std::string> groups;
  for (const HelpRow& option : rows) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  std::rotate(groups.begin(), groups.begin() + 1, groups.end());  // General, declared first, stands last
  for (const std::string& group : groups) {
    text += "\n" + group + ":\n";
    for (const HelpRow& option : rows) {
      if (option.group != group) continue;
      std::string placeholder = option.placeholder;
      if (placeholder.empty()) {
        placeholder = option.kind == value::Kind::kInteger    ? "N"
                      : option.kind == value::Kind::kNumber   ? "X"
                      : option.kind == value::Kind::kIntegers ? "N,N,..."
                                                              : "TEXT";
        for (std::size_t i = 0; i < option.choices.size(); ++i) {
          placeholder = (i == 0 ? "" : placeholder + "|") + option.choices[i];
        }
      }
      std::string line = "  --" + option.name;
      if (option.kind != value::Kind::kSwitch) line += " " + placeholder;
      line += line.size() + 2 <= kHelpIndent ? std::string(kHelpIndent - line.size(), ' ')
                                             : "\n" + std::string(kHelpIndent, ' ');
      std::string help = option.help;
      if (option.required) help += " (required)";
      if (option.repeatable) help += " (repeatable)";
      if (!option.default_text.empty() && !(option.kind == value::Kind::kSwitch && option.default_text == "false")) {
        help += " [" + option.default_text + "]";
      }
      text += line + wrapped(help, kHelpIndent, kHelpWidth - kHelpIndent) + "\n";
    }
  }
  return text;
}

}  // namespace rnnsearch::cli

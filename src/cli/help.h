// What --help prints.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/option.h"

namespace rnnsearch::cli {

struct HelpRow {
  std::string name, group, help;
  std::string placeholder;   // empty: its choices, or by kind
  std::string default_text;  // empty: none is shown
  std::vector<std::string> choices;
  value::Kind kind;
  bool required, repeatable;
};

/// `rows` in the order of their declaration; the group of the first stands last.
std::string help_text(const std::string& command, const std::string& about, std::span<const HelpRow> rows);

}  // namespace rnnsearch::cli

// What --help and -h print, in lines of at most 80 columns.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "rnnsearch/base/option.h"

namespace rnnsearch::cli {

/// `text` broken at spaces into lines of at most 80 columns, which begin in this column: the first without spaces before
/// it, the others with them. All but the last end with `line_end`.
std::string wrapped(const std::string& text, std::size_t column, const std::string& line_end = "");

/// `options` in the order of their declaration; the group of the first stands last. `explain_later`: say which options
/// are fixed, and which decide only how a run begins.
std::string help_text(const std::string& command, const std::string& about, std::span<const Option> options,
                      bool explain_later);
std::string short_help_text(const std::string& command, const std::string& about, const std::string& example,
                            std::span<const Option> options);

}  // namespace rnnsearch::cli

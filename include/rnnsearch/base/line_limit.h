// The limit on the length of a line of text, --max-line-bytes: a file without line ends must not fill the memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "rnnsearch/base/option.h"

namespace rnnsearch {

struct LineLimit {
  std::size_t max_line_bytes = std::size_t{1} << 20;  // without the line end

  /// Describes the problem of a line that is longer, such as "longer than the 1048576 bytes of --max-line-bytes,
  /// beginning with 'a'". Quotes the first bytes of `line`, which need not be all of it.
  std::string problem(std::string_view line) const;
  /// Throws an Error that consists of `location`, which ends in "is " or ": ", the problem, and what to do.
  [[noreturn]] void refuse(const std::string& location, std::string_view line) const;
};

/// --max-line-bytes, which every command that reads text declares.
void declare(OptionList& options, LineLimit& o);

}  // namespace rnnsearch

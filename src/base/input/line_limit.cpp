#include "rnnsearch/base/line_limit.h"

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/utf8.h"

namespace rnnsearch {
namespace {

constexpr std::size_t kQuoted = 32;  // bytes of the line in the error

}  // namespace

void declare(OptionList& options, LineLimit& o) {
  // The upper bound: with NFKC a character of three bytes becomes one of 18 UTF-16 units, and ICU counts them in 31 bits.
  options.add("max-line-bytes", o.max_line_bytes, within(1, 256u << 20),
              "longest line of text in bytes, without its line end; a longer one is rejected, so that a file without "
              "line ends cannot fill the memory. Raise it for texts with whole documents on a line");
}

std::string LineLimit::problem(std::string_view line) const {
  return fmt::format("longer than the {} bytes of --max-line-bytes, beginning with '{}'", max_line_bytes,
                     printable(whole_characters(line.substr(0, kQuoted))));
}

void LineLimit::refuse(const std::string& location, std::string_view line) const {
  throw Error("{}{}; the text must have one sentence a line; if it has, give a larger --max-line-bytes", location,
              problem(line));
}

}  // namespace rnnsearch

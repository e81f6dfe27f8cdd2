#include "rnnsearch/base/error.h"

#include <string_view>

#include "rnnsearch/base/printable.h"

namespace rnnsearch {
namespace {

// A sentence names what was found at its beginning, and what to do at its end.
constexpr std::size_t kBeginning = 3000, kEnd = 900, kLongest = 4000;
constexpr std::string_view kGap = " [...] ";
static_assert(kBeginning + kGap.size() + kEnd <= kLongest);

std::string shortened(std::string_view line) {
  if (line.size() <= kLongest) return std::string(line);
  std::string_view end = line.substr(line.size() - kEnd);
  while ((static_cast<unsigned char>(end.front()) & 0xc0) == 0x80) end.remove_prefix(1);
  return std::string(whole_characters(line.substr(0, kBeginning))).append(kGap).append(end);
}

}  // namespace

Error::Error(const std::string& sentence) : std::runtime_error(shortened(printable(sentence))) {}

}  // namespace rnnsearch

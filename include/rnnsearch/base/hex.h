#pragma once

#include <span>
#include <string>

namespace rnnsearch {

/// Two lower-case hexadecimal digits for each byte.
inline std::string hex(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text.append({"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]});
  return text;
}

}  // namespace rnnsearch

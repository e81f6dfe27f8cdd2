#pragma once

#include <cstddef>

namespace rnnsearch {

/// whole / piece, rounded up. REQUIRES: piece > 0, and whole + piece - 1 does not overflow.
constexpr std::size_t ceil_div(std::size_t whole, std::size_t piece) {
  return (whole + piece - 1) / piece;
}

}  // namespace rnnsearch

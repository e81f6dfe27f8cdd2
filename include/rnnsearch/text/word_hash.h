// A fast hash of short strings. It affects the speed of hash tables, but not their content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace rnnsearch::text {

/// Hashes eight bytes at a time, by multiplication and folding.
inline std::uint64_t hash_of(std::string_view word) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u ^ word.size();
  const char* at = word.data();
  std::size_t left = word.size();
  const auto mix = [&](std::uint64_t part) {
    hash = (hash ^ part) * 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
  };
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t part = 0;
    std::memcpy(&part, at, 8);
    mix(part);
  }
  std::uint64_t part = 0;
  std::memcpy(&part, at, left);
  mix(part);
  mix(hash >> 29);
  return hash;
}

}  // namespace rnnsearch::text

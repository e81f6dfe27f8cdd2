// What the fuzzers share. Each *_fuzzer.cpp defines `run`, which entry.cpp calls for libFuzzer, or without clang for
// each of some files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/error.h"
#include "tests/support/scratch.h"

namespace rnnsearch::fuzz {

/// An input that was accepted and should not have been, or does not come back as it was.
inline void require(bool condition, std::string_view what) {
  if (condition) return;
  std::fprintf(stderr, "finding: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

/// False when it was refused, as it should be, by an Error with a sentence; any other exception is a finding. With
/// RNNSEARCH_FUZZ_SAY, the sentences are shown.
template <class Act>
bool accepted(Act&& act) {
  try {
    act();
    return true;
  } catch (const Error& error) {
    static const bool say = std::getenv("RNNSEARCH_FUZZ_SAY") != nullptr;
    if (say) std::fprintf(stderr, "%s\n", error.what());
    require(std::string_view(error.what()).size() > 10, "a refusal without a sentence");
    return false;
  }
}

/// The pieces between the `end` characters; no empty piece after the last one.
inline std::vector<std::string> split(std::string_view bytes, char end) {
  std::vector<std::string> pieces;
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.find(end), bytes.size());
    pieces.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(std::min(size + 1, bytes.size()));
  }
  return pieces;
}

/// The input's bytes, one after the other, and zeros behind them.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  std::uint8_t byte() {
    const std::string_view one = take(1);
    return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one[0]);
  }
  std::uint64_t integer(std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  std::size_t below(std::size_t limit) { return integer(limit > 256 ? 4 : 1) % limit; }
  /// Small ones, those around which something may turn over, any.
  std::uint64_t number() {
    const std::uint8_t kind = byte();
    if (kind < 128) return kind;
    if (kind < 192) return (std::uint64_t{1} << (kind % 64)) - (kind & 1);
    return kind < 224 ? std::uint64_t{0} - byte() : integer(8);
  }
  std::string_view take(std::size_t count) {
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() { return take(bytes_.size()); }

 private:
  std::string_view bytes_;
};

/// Tries one input; a finding ends the process.
void run(Input input);

/// A file of this process's own, in $TMPDIR; a folder in memory is fastest.
inline std::filesystem::path scratch(const std::string& name) {
  static const Scratch folder;
  return folder / name;
}

inline std::filesystem::path written(const std::string& name, std::string_view bytes) {
  const std::filesystem::path path = scratch(name);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

}  // namespace rnnsearch::fuzz

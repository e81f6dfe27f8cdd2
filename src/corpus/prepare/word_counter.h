// Counts the words of a text in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

/// An open-addressing hash table whose words are in one block of bytes. When it would exceed `memory`, its words are
/// sorted and written to an unnamed temporary file, which disappears with this object; `for_each` merges these files.
/// Counts are exact. Not thread-safe.
class WordCounter {
 public:
  /// memory: bytes, at least kLeastMemory; a single word may exceed it. folder: the folder for temporary files.
  WordCounter(std::size_t memory, std::filesystem::path folder);
  ~WordCounter();
  WordCounter(WordCounter&&) noexcept;
  WordCounter& operator=(WordCounter&&) noexcept;

  static constexpr std::size_t kLeastMemory = 1 << 16;

  /// hash: hash_of(word), which the caller has computed already. Throws Error if the disk is full.
  void add(std::string_view word, std::uint64_t hash, std::uint64_t count = 1);
  /// Calls `take` for every distinct word with its count, sorted bytewise, and empties the counter.
  void for_each(const std::function<void(std::string_view word, std::uint64_t count)>& take);
  /// Number of temporary files that hold words now.
  std::size_t spilled() const { return runs_.size(); }

  static std::uint64_t hash_of(std::string_view word) { return text::hash_of(word); }

 private:
  struct Slot {
    std::uint64_t hash = 0, count = 0;  // count 0: the slot is free
    std::size_t begin = 0;              // start of the word in bytes_
    std::uint32_t size = 0;
  };
  struct Run;

  std::string_view word_of(const Slot& slot) const { return {bytes_.data() + slot.begin, slot.size}; }
  std::size_t bytes_memory() const { return memory_ / 4; }  // for bytes_; the rest is for the table
  void grow();
  void spill();
  void merge(const std::function<void(std::string_view word, std::uint64_t count)>& take);  // merges and closes runs_
  std::vector<Slot> sorted();  // empties the table, but not bytes_

  std::size_t memory_;
  std::filesystem::path folder_;
  std::vector<Slot> slots_;  // their number is a power of two
  std::size_t used_ = 0;
  std::vector<char> bytes_;
  std::vector<std::unique_ptr<Run>> runs_;
};

}  // namespace rnnsearch::corpus

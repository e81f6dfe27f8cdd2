// How often each word of a text occurs, in bounded memory whatever the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "rnnsearch/text/word_hash.h"

namespace rnnsearch::corpus {

/// An open-addressing table over one block of bytes. When it would pass `memory`, its words go, sorted, to a file that
/// has no name and ends with this object; `for_each` merges these files. Counts are exact. One thread at a time.
class WordCounter {
 public:
  /// memory: bytes, at least kLeastMemory; one word may go beyond. folder: where such files are made.
  WordCounter(std::size_t memory, std::filesystem::path folder);
  ~WordCounter();
  WordCounter(WordCounter&&) noexcept;
  WordCounter& operator=(WordCounter&&) noexcept;

  static constexpr std::size_t kLeastMemory = 1 << 16;

  /// hash: hash_of(word), which the caller has at hand. Throws Error for a disk that is full.
  void add(std::string_view word, std::uint64_t hash, std::uint64_t count = 1);
  /// Every distinct word once, in the order of its bytes, with its count. Once; the counter is empty afterwards.
  void for_each(const std::function<void(std::string_view word, std::uint64_t count)>& take);
  /// Files that hold words now.
  std::size_t spilled() const { return runs_.size(); }

  static std::uint64_t hash_of(std::string_view word) { return text::hash_of(word); }

 private:
  struct Slot {
    std::uint64_t hash = 0, count = 0;  // count 0: free
    std::size_t begin = 0;              // in bytes_
    std::uint32_t size = 0;
  };
  struct Run;

  std::string_view word_of(const Slot& slot) const { return {bytes_.data() + slot.begin, slot.size}; }
  std::size_t bytes_memory() const { return memory_ / 4; }  // the rest is the table's
  void grow();
  void spill();
  void merge(const std::function<void(std::string_view word, std::uint64_t count)>& take);  // the files, which end
  std::vector<Slot> sorted();  // empties the table, but not bytes_

  std::size_t memory_;
  std::filesystem::path folder_;
  std::vector<Slot> slots_;  // a power of two
  std::size_t used_ = 0;
  std::vector<char> bytes_;
  std::vector<std::unique_ptr<Run>> runs_;
};

}  // namespace rnnsearch::corpus

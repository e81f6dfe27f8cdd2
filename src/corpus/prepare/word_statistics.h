// Word counts of one side of the training text, and the vocabulary made from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

/// Counts words in bounded memory: an open-addressing hash table whose words are in one block of bytes. When it would
/// exceed `memory`, its words are sorted and written to an unnamed temporary file, which disappears with this object;
/// `for_each` merges these files. Counts are exact. Not thread-safe.
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

/// The words of some sentences, grouped by the highest bits of their hashes. Threads can count different groups at the
/// same time, and the counts do not depend on the number of threads.
class HashedWords {
 public:
  static constexpr std::size_t kGroups = 32;

  /// Groups the words of a list, which the caller must keep. Words spelled like special symbols are left out.
  void group(const text::WordList& words);
  std::size_t begin(std::size_t group) const { return group == 0 ? 0 : ends_[group - 1]; }
  std::size_t end(std::size_t group) const { return ends_[group]; }
  std::size_t word(std::size_t i) const { return order_[i]; }  // index in the list of the i-th grouped word
  std::uint64_t hash(std::size_t i) const { return hashes_[order_[i]]; }

 private:
  std::vector<std::uint64_t> hashes_;  // hash of every word of the list
  std::vector<std::uint32_t> order_;   // indices of the words, by group
  std::array<std::size_t, kGroups> ends_{};
};

class WordStatistics {
 public:
  /// memory: bytes for all tables together. folder: the folder for temporary files.
  WordStatistics(std::size_t memory, const std::filesystem::path& folder);

  /// Counts the words of one group. Different groups may be counted at the same time.
  void add(const text::WordList& words, const HashedWords& hashed, std::size_t group);
  void add_running(std::uint64_t words) { running_ += words; }

  /// Makes a vocabulary of the most frequent words. wanted: PrepareOptions::source_words or target_words. `option` and
  /// `text` are named in the error message. Empties the statistics.
  Vocabulary cut(std::optional<std::size_t> wanted, std::uint64_t sentences, const char* option,
                 const std::string& text, PrepareReport::Side& report);
  /// The words of `given` in the same order, with the counts of this text. Empties the statistics.
  Vocabulary count(const Vocabulary& given, std::uint64_t sentences, PrepareReport::Side& report);
  /// The words of `given`, sorted by falling frequency in this text. Words that do not occur are kept. Empties the
  /// statistics.
  Vocabulary rank(const Vocabulary& given, std::uint64_t sentences, PrepareReport::Side& report);

 private:
  std::vector<WordCounter> groups_;
  std::uint64_t running_ = 0;  // running words, including words spelled like special symbols
};

}  // namespace rnnsearch::corpus

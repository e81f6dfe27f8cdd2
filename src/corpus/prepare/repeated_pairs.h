// Finds pairs that occurred earlier in the text, in bounded memory: what does not fit is in temporary files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::corpus {

/// An unnamed temporary file, which disappears with the process at the latest. It is written first, then read. Not
/// thread-safe, but several threads may each create one at the same time.
class TemporaryFile {
 public:
  /// The constructor and the members throw Error if the folder has no space left.
  explicit TemporaryFile(std::filesystem::path folder);

  void write(const void* bytes, std::size_t size);
  /// Ends the writing; the next `read` starts at the beginning.
  void rewind();
  /// Reads `size` bytes. Returns false if fewer are left.
  bool read(void* bytes, std::size_t size);

 private:
  [[noreturn]] void fail() const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path folder_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// Merges files, `runs`, each of which is sorted: calls take(run) for the run whose present entry is the least, as
/// key() orders them, until all have been read. run.next() reads the next entry, and returns whether there is one.
template <class Run, class Take>
void merge_runs(const std::vector<std::unique_ptr<Run>>& runs, const Take& take) {
  const auto later = [](const Run* a, const Run* b) { return a->key() > b->key(); };
  std::priority_queue<Run*, std::vector<Run*>, decltype(later)> heads(later);
  for (const auto& run : runs) {
    if (run->next()) heads.push(run.get());
  }
  while (!heads.empty()) {
    Run* const run = heads.top();
    heads.pop();
    take(*run);
    if (run->next()) heads.push(run);
  }
}

/// A set of pair numbers with one bit for each pair of the text: 5 MB for 40 million pairs.
class PairSet {
 public:
  bool contains(std::uint64_t pair) const {
    return pair / 8 < bits_.size() && (static_cast<unsigned char>(bits_[pair / 8]) >> (pair % 8) & 1U) != 0;
  }
  void insert(std::uint64_t pair) {
    if (pair / 8 >= bits_.size()) bits_.resize(pair / 8 + 1, '\0');
    bits_[pair / 8] = static_cast<char>(static_cast<unsigned char>(bits_[pair / 8]) | 1U << (pair % 8));
  }

 private:
  std::string bits_;
};

/// Sorts the 128-bit digests of all pairs and takes pairs with equal digests for equal. Digests that do not fit into
/// `memory` are sorted and written to unnamed temporary files, which disappear with this object. Not thread-safe.
class RepeatedPairs {
 public:
  /// memory: bytes. folder: the folder for temporary files.
  RepeatedPairs(std::size_t memory, std::filesystem::path folder);
  ~RepeatedPairs();

  static storage::ShortDigest digest_of(std::string_view source, std::string_view target);

  /// Adds the next pairs of the text. Throws Error if the disk is full.
  void add(std::span<const storage::ShortDigest> digests);
  /// Returns, for each group of equal pairs, all but the first one. May be called once.
  PairSet take();

 private:
  struct Entry {
    storage::ShortDigest digest;
    std::uint64_t pair = 0;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  struct Run;

  void spill();

  std::size_t most_;  // entries in memory
  std::filesystem::path folder_;
  std::uint64_t pairs_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<Run>> runs_;
};

}  // namespace rnnsearch::corpus

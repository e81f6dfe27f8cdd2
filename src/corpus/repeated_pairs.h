// Pairs that stood in the text before, in bounded memory whatever the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/storage/digest.h"

namespace rnnsearch::corpus {

/// Pairs by their number in the text, a bit each: 5 MB for 40 million.
class PairSet {
 public:
  PairSet() = default;
  explicit PairSet(std::string bits) : bits_(std::move(bits)) {}
  bool contains(std::uint64_t pair) const {
    return pair / 8 < bits_.size() && (static_cast<unsigned char>(bits_[pair / 8]) >> (pair % 8) & 1U) != 0;
  }
  void insert(std::uint64_t pair) {
    if (pair / 8 >= bits_.size()) bits_.resize(pair / 8 + 1, '\0');
    bits_[pair / 8] = static_cast<char>(static_cast<unsigned char>(bits_[pair / 8]) | 1U << (pair % 8));
  }
  const std::string& bits() const { return bits_; }

 private:
  std::string bits_;
};

/// Sorts the digests of all pairs: two pairs are the same if their 128 bits are. What does not fit into `memory` goes,
/// sorted, to files that have no name and end with this object. One thread at a time.
class RepeatedPairs {
 public:
  /// memory: bytes. folder: where such files are made.
  RepeatedPairs(std::size_t memory, std::filesystem::path folder);
  ~RepeatedPairs();

  static storage::ShortDigest digest_of(std::string_view source, std::string_view target);

  /// The next pairs of the text. Throws Error for a disk that is full.
  void add(std::span<const storage::ShortDigest> digests);
  /// Every pair but the first of those that are the same. Once.
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

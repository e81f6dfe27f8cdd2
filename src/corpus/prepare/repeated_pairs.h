// Finds pairs that occurred earlier in the text, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::corpus {

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

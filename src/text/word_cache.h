// A cache of the words that a thread has split.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rnnsearch/text/word_list.h"

namespace rnnsearch::text {

/// A two-way associative cache: each word can be in two places, and a new word replaces the older of the two.
class WordCache {
 public:
  static constexpr std::size_t kWordBytes = 38, kValues = 6;

  struct alignas(64) Entry {  // a cache line
    std::array<std::uint32_t, kValues> values;
    std::uint8_t size = 0;  // size of the word; 0 if the entry is free
    std::uint8_t count;     // number of values
    std::array<char, kWordBytes> word;

    bool holds(std::string_view other) const {
      return size == other.size() && std::memcmp(word.data(), other.data(), other.size()) == 0;
    }
  };
  static_assert(sizeof(Entry) == 64);

  /// The cache of the calling thread for the model with this number (see new_owner). A thread keeps the caches of the
  /// last four models.
  static WordCache& for_owner(std::uint64_t owner) {
    thread_local std::array<std::unique_ptr<WordCache>, 4> caches;
    thread_local std::size_t next = 0;
    for (const auto& cache : caches) {
      if (cache && cache->owner_ == owner) return *cache;
    }
    auto& cache = caches[next++ % caches.size()];
    cache = std::make_unique<WordCache>(owner);
    return *cache;
  }
  static std::uint64_t new_owner() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }

  explicit WordCache(std::uint64_t owner) : owner_(owner), entries_(kEntries) {}

  /// Prefetches the two entries that `find` compares.
  void prefetch(std::uint64_t hash) const {
    const Entry* const entry = &entries_[slot_of(hash)];
    __builtin_prefetch(entry);
    __builtin_prefetch(entry + 1);
  }
  /// Returns nullptr if the word is not in the cache. hash: hash_of(word). REQUIRES: `word` is not empty.
  const Entry* find(std::string_view word, std::uint64_t hash) const {
    const Entry* const entry = &entries_[slot_of(hash)];
    return entry[0].holds(word) ? entry : entry[1].holds(word) ? entry + 1 : nullptr;
  }
  /// Stores a word, unless the word or the values are too long.
  void keep(std::string_view word, std::uint64_t hash, std::span<const std::uint32_t> values) {
    if (word.size() > kWordBytes || values.size() > kValues) return;
    Entry& entry = entries_[slot_of(hash)];
    (&entry)[1] = entry;
    entry.size = static_cast<std::uint8_t>(word.size());
    entry.count = static_cast<std::uint8_t>(values.size());
    std::memcpy(entry.word.data(), word.data(), word.size());
    std::copy(values.begin(), values.end(), entry.values.begin());  // memcpy may not be given no values
  }

 private:
  static constexpr int kBits = 16;
  static constexpr std::size_t kEntries = std::size_t{1} << kBits;
  static std::size_t slot_of(std::uint64_t hash) { return hash >> (64 - kBits + 1) << 1; }

  std::uint64_t owner_;
  std::vector<Entry> entries_;
};

}  // namespace rnnsearch::text

// What a thread remembers of the words that it split last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rnnsearch/text/word_hash.h"

namespace rnnsearch::text {

/// A table in which each word has two places, and the one that came last keeps one of them.
class WordCache {
 public:
  static constexpr std::size_t kWordBytes = 34, kValues = 6;

  struct Entry {  // a cache line
    std::array<std::uint32_t, kValues> values;
    float limit;            // the owner's
    std::uint8_t size = 0;  // of the word; 0: free
    std::uint8_t count;     // values
    std::array<char, kWordBytes> word;

    bool holds(std::string_view other) const {
      return size == other.size() && std::memcmp(word.data(), other.data(), other.size()) == 0;
    }
  };
  static_assert(sizeof(Entry) == 64);

  /// The calling thread's, of the model with this number (new_owner). It keeps those of the last four.
  static WordCache& of(std::uint64_t owner) {
    thread_local std::array<std::unique_ptr<WordCache>, 4> caches;
    thread_local std::size_t next = 0;
    for (const auto& cache : caches) {
      if (cache && cache->owner_ == owner) return *cache;
    }
    auto& place = caches[next++ % caches.size()];
    place = std::make_unique<WordCache>(owner);
    return *place;
  }
  static std::uint64_t new_owner();

  explicit WordCache(std::uint64_t owner) : owner_(owner), entries_(kEntries) {}

  /// word: not empty. hash: hash_of(word).
  const Entry* find(std::string_view word, std::uint64_t hash) const {
    const Entry* const entry = &entries_[place_of(hash)];
    return entry[0].holds(word) ? entry : entry[1].holds(word) ? entry + 1 : nullptr;
  }
  /// Words and values that are too long are not kept.
  void keep(std::string_view word, std::uint64_t hash, float limit, std::span<const std::uint32_t> values) {
    if (word.size() > kWordBytes || values.size() > kValues) return;
    Entry& entry = entries_[place_of(hash)];
    (&entry)[1] = entry;
    entry.limit = limit;
    entry.size = static_cast<std::uint8_t>(word.size());
    entry.count = static_cast<std::uint8_t>(values.size());
    std::memcpy(entry.word.data(), word.data(), word.size());
    std::memcpy(entry.values.data(), values.data(), values.size_bytes());
  }

 private:
  static constexpr int kBits = 16;
  static constexpr std::size_t kEntries = std::size_t{1} << kBits;
  static std::size_t place_of(std::uint64_t hash) { return hash >> (64 - kBits + 1) << 1; }

  std::uint64_t owner_;
  std::vector<Entry> entries_;
};

}  // namespace rnnsearch::text

// A cache of words that have been split.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "rnnsearch/text/word_list.h"

namespace rnnsearch::text {

/// A two-way associative cache: each word can be in two places, and a new word replaces the older of the two.
class WordCache {
 public:
  /// A cache line: the size of a word (0: the entry is free), the number of its values, the word, and at the end the
  /// values. A word fits that has at most 62 bytes with its values.
  class alignas(64) Entry {
   public:
    bool holds(std::string_view word) const {
      return bytes()[0] == word.size() && std::memcmp(bytes() + 2, word.data(), word.size()) == 0;
    }
    std::span<const std::uint32_t> values() const { return std::span(units_).last(bytes()[1]); }
    /// REQUIRES: fits(word, values).
    void assign(std::string_view word, std::span<const std::uint32_t> values) {
      bytes()[0] = static_cast<std::uint8_t>(word.size());
      bytes()[1] = static_cast<std::uint8_t>(values.size());
      std::memcpy(bytes() + 2, word.data(), word.size());
      std::ranges::copy(values, std::span(units_).last(values.size()).begin());
    }
    static bool fits(std::string_view word, std::span<const std::uint32_t> values) {
      return 2 + word.size() + values.size_bytes() <= sizeof(Entry);
    }

   private:
    const std::uint8_t* bytes() const { return reinterpret_cast<const std::uint8_t*>(units_.data()); }
    std::uint8_t* bytes() { return reinterpret_cast<std::uint8_t*>(units_.data()); }
    std::array<std::uint32_t, 16> units_;
  };
  static_assert(sizeof(Entry) == 64);

  /// The cache of the calling thread for the model with this number (see new_owner). A thread keeps the caches of the
  /// last four models.
  static WordCache& for_owner(std::uint64_t owner) {
    thread_local std::array<std::pair<std::uint64_t, std::unique_ptr<WordCache>>, 4> caches;
    thread_local std::size_t next = 0;
    for (const auto& [its_owner, cache] : caches) {
      if (its_owner == owner) return *cache;
    }
    auto& [its_owner, cache] = caches[next++ % caches.size()];
    cache = std::make_unique<WordCache>(16);
    its_owner = owner;
    return *cache;
  }
  static std::uint64_t new_owner() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }

  /// Has 2^bits entries. The system gives the memory of those that are used, in large pages where it has some.
  explicit WordCache(int bits) : shift_(65 - bits), entries_(nullptr, {sizeof(Entry) << bits}) {
    const std::size_t size = entries_.get_deleter().size;
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, size, MADV_HUGEPAGE);
    entries_.reset(static_cast<Entry*>(memory));
  }

  /// Prefetches the two entries that `find` compares.
  void prefetch(std::uint64_t hash) const {
    const Entry* const entry = entry_of(hash);
    __builtin_prefetch(entry);
    __builtin_prefetch(entry + 1);
  }
  /// Returns nullptr if the word is not in the cache. hash: hash_of(word). REQUIRES: `word` is not empty.
  const Entry* find(std::string_view word, std::uint64_t hash) const {
    const Entry* const entry = entry_of(hash);
    return entry[0].holds(word) ? entry : entry[1].holds(word) ? entry + 1 : nullptr;
  }
  /// Stores a word, unless it does not fit with its values.
  void keep(std::string_view word, std::uint64_t hash, std::span<const std::uint32_t> values) {
    if (!Entry::fits(word, values)) return;
    Entry* const entry = entry_of(hash);
    entry[1] = entry[0];
    entry[0].assign(word, values);
  }

 private:
  struct Unmap {
    std::size_t size;
    void operator()(Entry* entries) const { munmap(entries, size); }
  };
  /// The first of the two entries that the word can be in; its index begins with the highest bits of the hash.
  Entry* entry_of(std::uint64_t hash) const { return &entries_[hash >> shift_ << 1]; }

  int shift_;
  std::unique_ptr<Entry[], Unmap> entries_;
};

}  // namespace rnnsearch::text

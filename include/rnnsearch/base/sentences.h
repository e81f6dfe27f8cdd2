// Sentences of word ids in one array: sentence i is words[offsets[i]] to words[offsets[i + 1]] (exclusive).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rnnsearch {

using WordId = std::uint32_t;

/// The ids of the special symbols, with which every vocabulary begins.
inline constexpr WordId kUnknown = 0;  // <unk>
inline constexpr WordId kStart = 1;    // <s>
inline constexpr WordId kEnd = 2;      // </s>

/// Sentences without <s> and </s>. Functions that need these symbols add them (the model appends </s>).
struct Sentences {
  std::vector<WordId> words;
  std::vector<std::uint64_t> offsets{0};

  std::size_t size() const { return offsets.size() - 1; }
  bool empty() const { return size() == 0; }
  std::span<const WordId> operator[](std::size_t i) const {
    return {words.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
  std::size_t length(std::size_t i) const { return static_cast<std::size_t>(offsets[i + 1] - offsets[i]); }
  void add(std::span<const WordId> sentence) {
    words.insert(words.end(), sentence.begin(), sentence.end());
    offsets.push_back(words.size());
  }
  void clear() {
    words.clear();
    offsets.assign(1, 0);
  }
};

}  // namespace rnnsearch

// Sentences of word ids in one array: sentence i is words[offsets[i]] to words[offsets[i + 1]] (exclusive).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
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
  static auto fields(auto& sentences) { return std::tie(sentences.words, sentences.offsets); }  // for Packer
};

/// The place in a sentence of `length` words of the word that is read or written at `step`, from the first word to the
/// last one, or from the last to the first. What follows the words, </s>, keeps its place either way.
inline std::size_t position_of_step(std::size_t step, std::size_t length, bool last_word_first) {
  return last_word_first && step < length ? length - 1 - step : step;
}

/// The sentences with the words of each in reverse order.
inline Sentences with_last_word_first(const Sentences& sentences) {
  Sentences reversed = sentences;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const auto words = sentences[i];
    std::reverse_copy(words.begin(), words.end(),
                      reversed.words.begin() + static_cast<std::ptrdiff_t>(sentences.offsets[i]));
  }
  return reversed;
}

}  // namespace rnnsearch

// A list of words without an allocation for each word, and a hash of words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace rnnsearch::text {

/// Stores words in one block of memory, which `clear` keeps.
class WordList {
 public:
  std::size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  /// The result is valid until the list changes.
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  std::vector<std::string> strings() const {
    std::vector<std::string> words;
    words.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) words.emplace_back((*this)[i]);
    return words;
  }
  void clear() {
    bytes_.clear();
    ends_.clear();
  }

  void append(std::string_view part) { bytes_.append(part); }  // to the word that is being written
  void end_word() { ends_.push_back(bytes_.size()); }
  void add(std::string_view word) {
    append(word);
    end_word();
  }
  /// Adds all words of another list, whose last word is ended.
  void add(const WordList& words) {
    const std::size_t begin = bytes_.size();
    bytes_ += words.bytes_;
    for (const std::size_t end : words.ends_) ends_.push_back(begin + end);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;  // the end of each word in bytes_
};

/// For the speed of hash tables, not their content. Hashes eight bytes at a time, by multiplication and folding.
inline std::uint64_t hash_of(std::string_view word) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u ^ word.size();
  const char* at = word.data();
  std::size_t left = word.size();
  const auto mix = [&](std::uint64_t part) {
    hash = (hash ^ part) * 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
  };
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t part = 0;
    std::memcpy(&part, at, 8);
    mix(part);
  }
  std::uint64_t part = 0;
  if (left > 0) std::memcpy(&part, at, left);
  mix(part);
  mix(hash >> 29);
  return hash;
}

/// For hash tables of words, in which a std::string_view can be looked up.
struct WordHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view word) const { return hash_of(word); }
};

}  // namespace rnnsearch::text

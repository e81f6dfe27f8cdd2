// A list of words without an allocation for each word.
#pragma once

#include <cstddef>
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

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;  // the end of each word in bytes_
};

}  // namespace rnnsearch::text

// One side of the training text: how often each word occurs in it, and the vocabulary that is cut from that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/word_counter.h"
#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

/// The words of some sentences, grouped by the highest bits of their hashes, so that each group can be counted by
/// itself: on any number of threads the counts are the same.
class HashedWords {
 public:
  static constexpr std::size_t kGroups = 32;

  /// Of words [first, words.size()) of `words`, which the caller keeps. Words spelled like special symbols are left
  /// out.
  void group(const text::WordList& words);
  std::size_t begin(std::size_t group) const { return group == 0 ? 0 : ends_[group - 1]; }
  std::size_t end(std::size_t group) const { return ends_[group]; }
  std::size_t word(std::size_t i) const { return order_[i]; }  // its place in the list
  std::uint64_t hash(std::size_t i) const { return hashes_[order_[i]]; }

 private:
  std::vector<std::uint64_t> hashes_;  // of every word of the list
  std::vector<std::uint32_t> order_;   // words by group
  std::array<std::size_t, kGroups> ends_{};
};

class WordStatistics {
 public:
  /// memory: bytes for all tables together. folder: for what does not fit.
  WordStatistics(std::size_t memory, const std::filesystem::path& folder);

  /// Counts one group. Groups may be counted at the same time.
  void add(const text::WordList& words, const HashedWords& hashed, std::size_t group);
  void add_running(std::uint64_t words) { running_ += words; }

  /// One group's words and counts, for `merge` of another process's statistics; ends the group here.
  std::string pack(std::size_t group);
  void merge(std::size_t group, std::string_view packed);
  std::uint64_t running() const { return running_; }

  /// `wanted`: as in PrepareOptions; `option` and `text` for the error. Ends the statistics.
  Vocabulary cut(std::optional<std::size_t> wanted, std::uint64_t sentences, const char* option,
                 const std::string& text, PrepareReport::Side& report);
  /// The words of `given`, counted here. Ends the statistics.
  Vocabulary count(const Vocabulary& given, std::uint64_t sentences, PrepareReport::Side& report);
  /// The same, in the order of `cut`: those that do not occur are there nevertheless.
  Vocabulary rank(const Vocabulary& given, std::uint64_t sentences, PrepareReport::Side& report);

 private:
  std::vector<WordCounter> groups_;
  std::uint64_t running_ = 0;  // words, the special symbols' spellings included
};

}  // namespace rnnsearch::corpus

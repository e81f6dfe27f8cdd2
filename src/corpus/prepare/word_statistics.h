// Word counts of one side of the training text, and the vocabulary made from them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "corpus/prepare/word_counter.h"
#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

/// The words of some sentences, grouped by the highest bits of their hashes. Threads can count different groups at the
/// same time, and the counts do not depend on the number of threads.
class HashedWords {
 public:
  static constexpr std::size_t kGroups = 32;

  /// Groups the words of a list, which the caller must keep. Words spelled like special symbols are left out.
  void group(const text::WordList& words);
  std::size_t begin(std::size_t group) const { return group == 0 ? 0 : ends_[group - 1]; }
  std::size_t end(std::size_t group) const { return ends_[group]; }
  std::size_t word(std::size_t i) const { return order_[i]; }  // index in the list of the i-th grouped word
  std::uint64_t hash(std::size_t i) const { return hashes_[order_[i]]; }

 private:
  std::vector<std::uint64_t> hashes_;  // hash of every word of the list
  std::vector<std::uint32_t> order_;   // indices of the words, by group
  std::array<std::size_t, kGroups> ends_{};
};

class WordStatistics {
 public:
  /// memory: bytes for all tables together. folder: the folder for temporary files.
  WordStatistics(std::size_t memory, const std::filesystem::path& folder);

  /// Counts the words of one group. Different groups may be counted at the same time.
  void add(const text::WordList& words, const HashedWords& hashed, std::size_t group);
  void add_running(std::uint64_t words) { running_ += words; }

  /// Makes a vocabulary of the most frequent words. wanted: PrepareOptions::source_words or target_words. `option` and
  /// `text` are named in the error message. Empties the statistics.
  Vocabulary cut(std::optional<std::size_t> wanted, std::uint64_t sentences, const char* option,
                 const std::string& text, PrepareReport::Side& report);
  /// The words of `given` in the same order, with the counts of this text. Empties the statistics.
  Vocabulary count(const Vocabulary& given, std::uint64_t sentences, PrepareReport::Side& report);
  /// The words of `given`, sorted by falling frequency in this text. Words that do not occur are kept. Empties the
  /// statistics.
  Vocabulary rank(const Vocabulary& given, std::uint64_t sentences, PrepareReport::Side& report);

 private:
  std::vector<WordCounter> groups_;
  std::uint64_t running_ = 0;  // running words, including words spelled like special symbols
};

}  // namespace rnnsearch::corpus

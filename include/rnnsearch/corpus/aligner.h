// Links the words of parallel text by the model of fast_align: Dyer, Chahuneau and Smith (2013), "A Simple, Fast, and
// Effective Reparameterization of IBM Model 2". It is learned in both directions, and the links of the two are
// symmetrised (Och and Ney 2003).
//
// Word j of n target words belongs to no source word with probability kNull, or else to word i of m with a probability
// proportional to exp(-tension |i / m - j / n|) (section 2 there). Given that, it is the word f with the probability
// t(f | e_i), which has a sparse Dirichlet prior (section 3). The other direction exchanges the sides.
//
// The same text gives the same links on any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "rnnsearch/base/sentences.h"

namespace rnnsearch::corpus {

class Aligner {
 public:
  struct Pairs {
    Sentences source, target;
  };
  /// Reads pairs [first, first + count) of the text.
  using Read = std::function<Pairs(std::uint64_t first, std::uint64_t count)>;
  static constexpr std::size_t kBlock = 4096;  // pairs that are read at a time

  /// Learns from this number of pairs, or, if they have more than some 150 million pairs of words, from the first pairs
  /// of each kBlock, so that it is about as many. cells: how many they have, without the sentences that get no links.
  /// Memory: some 40 bytes for each pair of words that are candidates for a link, some 10 million of a million pairs of
  /// package descriptions and manuals; while these are found, for each thread 16 to 32 bytes for some sixteenth of the
  /// pairs of words that occur together; up to 24 bytes for each of 8 million pairs of words. Uses all threads of
  /// base/parallel.h.
  Aligner(std::uint64_t pairs, double cells, const Read& read);

  /// Whether sentences are learned from and linked: not if one is empty, or if they have more than 2^20 pairs of words,
  /// such as 1,025 words on either side.
  static bool has_links(std::span<const WordId> source, std::span<const WordId> target);

  struct Links {
    /// Source word, target word, source word, target word, ... from 0 and in ascending order.
    std::vector<std::uint32_t> positions;
    /// How many times as likely the words of each side are given the other side as by their frequency in the text: the
    /// geometric mean over the words of both sides; infinite if there can be no links. A word counts as at least 0.08,
    /// so that one that was never seen beside the others says little. Many sentences that do not belong together have
    /// less than 1, and most less than 2.
    double likelihood_ratio = std::numeric_limits<double>::infinity();
  };
  /// Thread-safe.
  Links links(std::span<const WordId> source, std::span<const WordId> target) const;

 private:
  // Arrays of two have an element for each direction: 0 generates target words, 1 source words.
  struct Entry {
    WordId target;
    std::array<float, 2> t;  // the probability of the generated word given the other one
  };
  static const Entry kUnusedEntry;
  /// The candidates of a source word: a hash table with open addressing in a part of table_.
  struct Row {
    std::uint32_t first = 0, size = 0;
    std::uint32_t first_slot(WordId target) const;
  };
  /// Of a pair of m source words and n target words.
  struct Cells {
    std::vector<std::uint32_t> slots;     // [i * n + j]: the entry of source word i and target word j, or kNoSlot
    std::array<std::vector<float>, 2> t;  // its t: [0][j * m + i] and [1][i * n + j]
  };
  struct Expectations;

  void find_candidates(const std::vector<std::uint64_t>& blocks, const std::function<Pairs(std::uint64_t)>& read);
  /// The slot of a word, or an unused one.
  std::uint32_t find(Row row, WordId target) const;
  void look_up(std::span<const WordId> source, std::span<const WordId> target, Cells& cells) const;
  void expect(std::span<const WordId> source, std::span<const WordId> target, Expectations& expectations) const;
  void add(const std::vector<Expectations>& all);
  void drop_candidates();
  void maximise();

  std::array<std::vector<double>, 2> candidates_;  // by given word: how many it had at first
  std::vector<Row> rows_;  // by source word; the last one, without candidates, is of unknown words
  std::vector<Entry> table_;
  std::vector<std::array<float, 2>> counts_;              // expected number of links of each entry
  std::array<std::vector<float>, 2> null_, null_counts_;  // by generated word: t and counts of no source word
  std::array<std::vector<double>, 2> frequency_;  // by generated word: its share of the words, once in a sentence
  std::array<double, 2> tension_{4, 4};
  std::array<double, 2> slope_{}, curvature_{};  // of the expected log-likelihood, by the tension
};

}  // namespace rnnsearch::corpus

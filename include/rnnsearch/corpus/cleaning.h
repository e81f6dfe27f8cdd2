// Selection of the training pairs that become part of a corpus, and counts of the dropped ones by reason.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

#include "rnnsearch/text/unicode.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

struct CleaningOptions {
  std::size_t max_length = 50;  // drop pairs with more words, without </s>, on either side (paper: 50 and 30)
  /// Drop pairs in which the longer side has more than this many times the words of the shorter one. 0: no limit.
  double max_ratio = 0;
  bool keep_empty_targets = false;  // keep pairs whose target has no words; their target sequence is only </s>
  bool drop_copies = false;         // drop pairs with the same words on both sides, which are not translated
  bool drop_repeated = false;       // drop pairs that occurred earlier in the text, byte for byte
  double drop_unlikely = 0;  // drop pairs of a smaller likelihood ratio (corpus/aligner.h), if their links are learned
  /// If not empty, the script of each side, as text::Script takes it. A sentence is dropped if less than script_share
  /// of its letters belong to that script. Sentences without letters are kept.
  std::string source_script, target_script;
  double script_share = 0.5;

  friend bool operator==(const CleaningOptions&, const CleaningOptions&) = default;
};

/// Throws Error, naming the option, for a value out of range.
void check(const CleaningOptions& options);

/// The reasons for dropping a pair. A dropped pair is counted once, under the first reason that applies.
enum class Drop {
  kEmptySource,
  kEmptyTarget,
  kLongSource,
  kLongTarget,
  kRatio,
  kCopy,
  kSourceScript,
  kTargetScript,
  kRepeated,
  kUnlikely
};
struct DropReason {
  const char* name;   // in files and in JSON
  const char* label;  // for people
};
inline constexpr std::array<DropReason, 10> kDropReasons{{{"empty_source", "empty source"},
                                                          {"empty_target", "empty target"},
                                                          {"long_source", "source too long"},
                                                          {"long_target", "target too long"},
                                                          {"length_ratio", "lengths too different"},
                                                          {"copied", "target copies source"},
                                                          {"source_script", "source in another script"},
                                                          {"target_script", "target in another script"},
                                                          {"repeated", "repeated"},
                                                          {"unlikely", "unlikely to be a translation"}}};

/// The number of dropped pairs by reason.
struct DropCounts {
  std::array<std::uint64_t, kDropReasons.size()> counts{};

  std::uint64_t& operator[](Drop reason) { return counts[static_cast<std::size_t>(reason)]; }
  std::uint64_t operator[](Drop reason) const { return counts[static_cast<std::size_t>(reason)]; }
  std::uint64_t total() const { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }
  DropCounts& operator+=(const DropCounts& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    return *this;
  }
  friend bool operator==(const DropCounts&, const DropCounts&) = default;
};

/// How the training pairs of a corpus were selected; stored in the corpus.
struct Selection {
  CleaningOptions cleaning;
  std::uint64_t pairs_read = 0;  // pairs in the corpus plus dropped.total()
  DropCounts dropped;
};

// Decides whether a pair of the training text is kept.

/// Thread-safe.
class PairCleaner {
 public:
  explicit PairCleaner(const CleaningOptions& options);

  /// The reason for dropping a pair, given as raw text and as words; nothing if it is kept. Does not check whether the
  /// pair is repeated.
  std::optional<Drop> reason(std::string_view source, const text::WordList& source_words, std::string_view target,
                             const text::WordList& target_words) const;

 private:
  CleaningOptions options_;
  std::optional<text::Script> source_script_, target_script_;
};

}  // namespace rnnsearch::corpus

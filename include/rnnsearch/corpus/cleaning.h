// Which pairs of the training text become part of a corpus, and how many of the others were left out, and why.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

namespace rnnsearch::corpus {

struct CleaningOptions {
  std::size_t max_length = 50;  // words of either side, without </s>: longer pairs are dropped (paper: 50, 30)
  /// Words of the longer side over words of the shorter one: pairs beyond it are dropped. 0: none are.
  double max_ratio = 0;
  bool keep_empty_targets = false;  // pairs whose target has no words: its sequence is </s> alone
  bool drop_copies = false;         // pairs whose two sides have the same words: nobody translated them
  bool drop_repeated = false;       // pairs that stood in the text before, byte for byte
  /// Not empty: the script each side is written in, as text::Script takes it. Sentences with letters of which less than
  /// script_share are of it are dropped; sentences without letters are not.
  std::string source_script, target_script;
  double script_share = 0.5;

  friend bool operator==(const CleaningOptions&, const CleaningOptions&) = default;
};

/// Throws Error naming the option, in one sentence.
void check(const CleaningOptions& options);

/// A dropped pair is counted once, by the first reason that holds.
enum class Drop {
  kEmptySource,
  kEmptyTarget,
  kLongSource,
  kLongTarget,
  kRatio,
  kCopy,
  kSourceScript,
  kTargetScript,
  kRepeated
};
struct DropReason {
  const char* name;   // in files and in JSON
  const char* label;  // for people
};
inline constexpr std::array<DropReason, 9> kDropReasons{{{"empty_source", "empty source"},
                                                         {"empty_target", "empty target"},
                                                         {"long_source", "source too long"},
                                                         {"long_target", "target too long"},
                                                         {"length_ratio", "lengths too different"},
                                                         {"copied", "target copies source"},
                                                         {"source_script", "source in another script"},
                                                         {"target_script", "target in another script"},
                                                         {"repeated", "repeated"}}};

/// How many pairs were dropped, by reason.
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

/// What a corpus remembers of how its training pairs were chosen.
struct Selection {
  CleaningOptions cleaning;
  std::uint64_t pairs_read = 0;  // those in the corpus, and dropped.total()
  DropCounts dropped;
};

}  // namespace rnnsearch::corpus

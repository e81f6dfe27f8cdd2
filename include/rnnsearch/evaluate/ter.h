// TER (Snover et al. 2006) as sacreBLEU 2.x (Post 2018) computes it after tercom: the same numbers to the rounding of a
// double. Edits are words inserted, deleted or substituted, and shifts of a phrase, each counted once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/evaluate/bleu.h"

namespace rnnsearch::evaluate {

/// tercom's tokenizer; without any of these a line is lower-cased and split at white space.
struct TerOptions {
  bool normalized = false;     // punctuation becomes words of its own, XML entities become their characters
  bool no_punct = false;       // punctuation is taken out
  bool asian_support = false;  // what the two above do, for Chinese and Japanese as well; a Chinese character is a word
  bool case_sensitive = false;  // do not lower-case
};

/// Sums over sentences: add them up, then take ter_of.
struct TerStatistics {
  std::uint64_t edits = 0;      // to the reference that needs the fewest
  double reference_length = 0;  // words, the mean over the references

  TerStatistics& operator+=(const TerStatistics& other);
  friend bool operator==(const TerStatistics&, const TerStatistics&) = default;
};

/// Of raw text. At least one reference; an empty one is a reference of no words. The shifts are tercom's greedy ones
/// (at most 10 words, at most 50 words away, 1000 tried), the edit distance is that within 25 words of the diagonal:
/// memory grows with the length of a line, not with its square.
TerStatistics sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                  const TerOptions& options);
/// As corpus_statistics of BLEU.
std::vector<TerStatistics> corpus_statistics(std::span<const std::string> hypotheses,
                                             std::span<const std::vector<std::string>> references,
                                             const TerOptions& options);
/// 100 * edits / reference length: from 0, the best, to more than 100. Without reference words, 100 for any edit.
double ter_of(const TerStatistics& statistics);
/// Throws Error as corpus_bleu.
double corpus_ter(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                  const TerOptions& options);
/// The words of one line of raw text, as TER counts them.
std::vector<std::string> words_of(std::string_view line, const TerOptions& options);

/// sacreBLEU's keys in its order: "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:...".
std::string signature(const TerOptions& options, std::size_t references,
                      const std::optional<Bootstrap>& bootstrap = std::nullopt);

}  // namespace rnnsearch::evaluate

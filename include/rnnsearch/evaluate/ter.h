// TER (Snover et al. 2006) as in sacreBLEU 2.x (Post 2018), which follows tercom, with equal numbers up to the rounding
// of a double. An edit is the insertion, deletion or substitution of a word, or the shift of a phrase.
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

/// Options of tercom's tokenizer. By default a line is lowercased and split at white space.
struct TerOptions {
  bool normalized = false;      // separate punctuation from words, and replace XML entities by their characters
  bool no_punct = false;        // remove punctuation
  bool asian_support = false;   // apply both to Chinese and Japanese too; each Chinese character is a word
  bool case_sensitive = false;  // do not lowercase

  friend bool operator==(const TerOptions&, const TerOptions&) = default;
};

/// Statistics of a sentence, or sums over sentences. Add them up, then call ter_of.
struct TerStatistics {
  static constexpr bool kAddsUp = true;
  std::uint64_t edits = 0;            // edits to the reference that needs the fewest
  std::uint64_t reference_words = 0;  // words of all references together

  friend bool operator==(const TerStatistics&, const TerStatistics&) = default;
};

/// Statistics of a sentence given as raw text. REQUIRES: at least one reference; an empty text is a reference without
/// words. Shifts are found with tercom's greedy search (at most 10 words, at most 50 words away, 1000 candidates). The
/// edit distance is computed within 25 words of the diagonal, so memory grows linearly with the length of a line.
TerStatistics sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                  const TerOptions& options);
/// 100 * edits / mean length of this many references, from 0 (best) to more than 100. Without reference words it is 100
/// if there is any edit.
double ter_of(const TerStatistics& statistics, std::size_t references);
/// REQUIRES: as corpus_sum.
inline double corpus_ter(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                         const TerOptions& options) {
  return ter_of(corpus_sum(hypotheses, references, options), references.size());
}

/// The signature, with the keys of sacreBLEU in its order:
/// "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:...".
std::string signature(const TerOptions& options, std::size_t references,
                      const std::optional<Bootstrap>& bootstrap = std::nullopt);

}  // namespace rnnsearch::evaluate

// BLEU, chrF, TER and sequence accuracy. A metric has options, statistics of a sentence that are found by
// sentence_statistics(hypothesis, references, options) from raw text, a score of their sum, and a signature.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/text/tokenizer.h"

namespace rnnsearch::evaluate {

/// Statistics that add up over sentences: a struct of std::uint64_t and arrays of them alone, which says so by a member
/// kAddsUp.
template <class S>
concept AddsUp = S::kAddsUp && std::is_trivially_copyable_v<S>;
template <AddsUp S>
auto numbers_of(const S& statistics) {
  return std::bit_cast<std::array<std::uint64_t, sizeof(S) / sizeof(std::uint64_t)>>(statistics);
}
template <AddsUp S>
S& operator+=(S& sum, const S& other) {
  auto numbers = numbers_of(sum);
  const auto more = numbers_of(other);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += more[i];
  return sum = std::bit_cast<S>(numbers);
}

/// Calls act(i) for the `lines` lines of a text on all threads, each of which takes 256 lines at a time.
inline void for_each_line(std::size_t lines, const std::function<void(std::size_t i)>& act) {
  constexpr std::size_t kLinesPerPiece = 256;
  parallel_for(ceil_div(lines, kLinesPerPiece), [&](std::size_t piece) {
    const std::size_t end = std::min(lines, (piece + 1) * kLinesPerPiece);
    for (std::size_t i = piece * kLinesPerPiece; i < end; ++i) act(i);
  });
}

/// Statistics of every sentence. references[k][i] is the k-th reference of hypothesis i. REQUIRES: at least one
/// reference of each hypothesis.
template <class Options>
auto corpus_statistics(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                       const Options& options) {
  assert(!references.empty());
  for ([[maybe_unused]] const auto& set : references) assert(set.size() == hypotheses.size());
  std::vector<decltype(sentence_statistics(hypotheses[0], {}, options))> statistics(hypotheses.size());
  for_each_line(hypotheses.size(), [&](std::size_t i) {
    std::vector<std::string_view> of_sentence;
    for (const auto& set : references) of_sentence.push_back(set[i]);
    statistics[i] = sentence_statistics(hypotheses[i], of_sentence, options);
  });
  return statistics;
}

/// Their sum. REQUIRES: at least one sentence, and as corpus_statistics.
template <class Options>
auto corpus_sum(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                const Options& options) {
  const auto all = corpus_statistics(hypotheses, references, options);
  assert(!all.empty());
  auto sum = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) sum += all[i];
  return sum;
}

// BLEU (Papineni et al. 2002) as in sacreBLEU 2.x (Post 2018), with equal numbers up to the rounding of a double.

/// Smoothing for n-gram orders without a match (Chen and Cherry 2014). The default values are sacreBLEU's.
///   exp     1/2^k of one match, the k-th such order            floor   smooth_value matches (0.1)
///   add-k   smooth_value (1) added to matches and n-grams of all orders but the first      none   BLEU becomes 0
enum class Smoothing { kExp, kFloor, kAddK, kNone };
constexpr auto names_of(Smoothing) { return in_order<Smoothing>({"exp", "floor", "add-k", "none"}); }

struct BleuOptions {
  text::BleuTokenizer tokenizer = text::BleuTokenizer::k13a;
  bool lowercase = false;
  Smoothing smoothing = Smoothing::kExp;
  std::optional<double> smooth_value;  // for floor and add-k
  bool effective_order = false;        // leave out orders longer than the hypothesis; for single sentences
};

inline constexpr std::size_t kBleuOrders = 4;

/// Statistics of a sentence, or sums over sentences. Add them up, then call bleu_of.
struct BleuStatistics {
  static constexpr bool kAddsUp = true;
  /// N-grams that occur in the references, clipped to the largest count in a reference.
  std::array<std::uint64_t, kBleuOrders> correct{};
  std::array<std::uint64_t, kBleuOrders> total{};  // n-grams of the hypothesis
  std::uint64_t hypothesis_length = 0;             // words
  std::uint64_t reference_length = 0;              // words of the reference of closest length; the shorter one of two

  friend bool operator==(const BleuStatistics&, const BleuStatistics&) = default;
};

struct Bleu {
  double score = 0;                              // 0 to 100; 0 with any smoothing if nothing matches
  std::array<double, kBleuOrders> precisions{};  // 0 to 100, smoothed
  double brevity_penalty = 0;
  double ratio = 0;  // hypothesis to reference length; 0 without reference words
  BleuStatistics statistics;
};

/// Statistics of a sentence given as raw text. REQUIRES: at least one reference; an empty text is a reference without
/// words.
BleuStatistics sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                   const BleuOptions& options);
Bleu bleu_of(const BleuStatistics& statistics, const BleuOptions& options);
/// REQUIRES: as corpus_sum.
inline Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                        const BleuOptions& options) {
  return bleu_of(corpus_sum(hypotheses, references, options), options);
}
/// The number of words in a line of raw text, as BLEU counts them.
std::size_t word_count(std::string_view line, const BleuOptions& options);

struct Bootstrap {
  std::size_t samples = 1000;
  std::uint64_t seed = 12345;  // both are the defaults of sacreBLEU
};
/// What the signatures of all metrics begin with: "nrefs:1", or with a bootstrap "nrefs:1|bs:1000|seed:12345".
std::string signature_head(std::size_t references, const std::optional<Bootstrap>& bootstrap);
/// The signature, with the keys of sacreBLEU in its order and our own name and version:
/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:..."; with a bootstrap "nrefs:1|bs:1000|seed:12345|case:...".
std::string signature(const BleuOptions& options, std::size_t references,
                      const std::optional<Bootstrap>& bootstrap = std::nullopt);

// chrF (Popovic 2015) and chrF++ (Popovic 2017) as in sacreBLEU 2.x (Post 2018), with equal numbers up to the rounding
// of a double.

inline constexpr std::size_t kCharacterOrders = 6;
inline constexpr std::size_t kWordOrders = 2;

struct ChrfOptions {
  std::size_t word_orders = 0;  // 0: chrF; 2: chrF++. At most kWordOrders
  bool lowercase = false;
};

/// Statistics of a sentence, or sums over sentences. Add them up, then call chrf_of. The orders of characters (without
/// white space) come first, then those of words.
struct ChrfStatistics {
  static constexpr bool kAddsUp = true;
  struct Order {
    std::uint64_t hypothesis = 0, reference = 0, correct = 0;  // numbers of n-grams

    friend bool operator==(const Order&, const Order&) = default;
  };
  std::array<Order, kCharacterOrders + kWordOrders> orders{};

  friend bool operator==(const ChrfStatistics&, const ChrfStatistics&) = default;
};

/// Statistics of a sentence given as raw text, against the reference with the best score (the first one if several are
/// equal). REQUIRES: at least one reference.
ChrfStatistics sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                   const ChrfOptions& options);
/// The score, from 0 to 100. Precision and recall are means over the orders for which both sides have n-grams.
double chrf_of(const ChrfStatistics& statistics, const ChrfOptions& options);
/// REQUIRES: as corpus_sum.
inline double corpus_chrf(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                          const ChrfOptions& options) {
  return chrf_of(corpus_sum(hypotheses, references, options), options);
}

/// The signature, with the keys of sacreBLEU in its order: "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:...".
std::string signature(const ChrfOptions& options, std::size_t references,
                      const std::optional<Bootstrap>& bootstrap = std::nullopt);

// TER (Snover et al. 2006) as in sacreBLEU 2.x (Post 2018), which follows tercom, with equal numbers up to the rounding
// of a double. An edit is the insertion, deletion or substitution of a word, or the shift of a phrase.

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

// Sequence accuracy for tasks with one correct answer, such as reversing a sequence, as in the replication of RNNsearch
// at https://github.com/zhengyang-2002/Paper_reading-Replicating (Code/Bahdanau-Attention.ipynb, calculate_metrics and
// evaluate). For a sequence i with a reference t of |t| > 0 words and an output p:
//   PSA_i      |{k <= |t| : p_k = t_k}| / |t|           position-wise accuracy
//   LCSR_i     length of the longest common subsequence of t and p / |t|
//   GeoMean_i  sqrt(PSA_i LCSR_i)
// All three are 0 for a reference without words. The score of a set is the mean of each measure over its sequences. By
// the Cauchy-Schwarz inequality the mean of GeoMean_i is at most the square root of the product of the other two means;
// they are equal only if all sequences have the same ratio PSA_i / LCSR_i.
// Words are separated by white space.

/// Whether to compute sequence accuracy, and for which part of the output. PSA is the same for both.
///   kWhole  LCSR of the whole output: words past the length of the reference may still match.
///   kCut    LCSR of the first |t| words of the output, the protocol of the replication.
/// LCSR and GeoMean with kCut are at most those with kWhole.
enum class SequenceAccuracyMode { kNone, kWhole, kCut };
constexpr auto names_of(SequenceAccuracyMode) { return in_order<SequenceAccuracyMode>({"none", "whole", "cut"}); }
/// A sentence for legends: how the figures are averaged, and whether the output was cut. Empty for kNone.
std::string legend_of(SequenceAccuracyMode mode);

struct SequenceAccuracyOptions {
  bool lowercase = false;
  /// Use only the first |t| words of the output. Off by default: LCSR is defined for the whole output; cutting is a
  /// convention of one protocol, whose decoder ran for as many steps as the longest target in the batch.
  bool cut_output = false;
};

/// The measures of a sequence, or their means over sequences. All are from 0 to 1, and psa <= geometric_mean <= lcsr.
struct SequenceAccuracy {
  double psa = 0, lcsr = 0;
  double geometric_mean = 0;  // for a set, the mean of sqrt(PSA_i LCSR_i)

  friend bool operator==(const SequenceAccuracy&, const SequenceAccuracy&) = default;
};

/// The exact length, computed with the bit-parallel algorithm of Hyyro (2004) in a.size() * b.size() / 64 steps and
/// a.size() + b.size() look-ups.
std::size_t longest_common_subsequence(std::span<const std::string_view> a, std::span<const std::string_view> b);

/// The measures of one sequence. With several references, each measure uses the reference that gives it the largest
/// value. REQUIRES: at least one reference.
SequenceAccuracy sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                     const SequenceAccuracyOptions& options = {});
/// A signature in the style of sacreBLEU: "nrefs:1|case:mixed|tok:none|output:cut|mean:sentences|version:..."
std::string signature(const SequenceAccuracyOptions& options, std::size_t references,
                      const std::optional<Bootstrap>& bootstrap = std::nullopt);

}  // namespace rnnsearch::evaluate

// BLEU (Papineni et al. 2002) as in sacreBLEU 2.x (Post 2018), with equal numbers up to the rounding of a double.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/evaluate/corpus_statistics.h"
#include "rnnsearch/text/bleu_tokenizer.h"

namespace rnnsearch::evaluate {

/// Smoothing for n-gram orders without a match (Chen and Cherry 2014). The default values are sacreBLEU's.
///   exp     1/2^k of one match, the k-th such order            floor   smooth_value matches (0.1)
///   add-k   smooth_value (1) added to matches and n-grams of all orders but the first      none   BLEU becomes 0
enum class Smoothing { kExp, kFloor, kAddK, kNone };
constexpr auto names_of(Smoothing) {
  return std::array{Named{Smoothing::kExp, "exp"}, Named{Smoothing::kFloor, "floor"}, Named{Smoothing::kAddK, "add-k"},
                    Named{Smoothing::kNone, "none"}};
}
using rnnsearch::name_of;

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

}  // namespace rnnsearch::evaluate

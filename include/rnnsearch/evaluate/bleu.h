// BLEU (Papineni et al. 2002) as sacreBLEU 2.x (Post 2018) computes it: the same numbers to the rounding of a double.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/text/bleu_tokenizer.h"

namespace rnnsearch::evaluate {

/// How an order of n-grams without any match counts (Chen and Cherry 2014). Defaults of the value: sacreBLEU's.
///   exp     1/2^k of one match, the k-th such order            floor   smooth_value matches (0.1)
///   add-k   smooth_value (1) added to matches and n-grams of all orders but the first      none   BLEU becomes 0
enum class Smoothing { kExp, kFloor, kAddK, kNone };
Smoothing smoothing_of(const std::string& name);  // "exp", "floor", "add-k", "none"; throws Error naming them
std::string name_of(Smoothing smoothing);

struct BleuOptions {
  text::BleuTokenizer tokenizer = text::BleuTokenizer::k13a;
  bool lowercase = false;
  Smoothing smoothing = Smoothing::kExp;
  std::optional<double> smooth_value;  // of floor and add-k
  bool effective_order = false;  // leave out the orders for which the hypothesis is too short: for single sentences
};

inline constexpr std::size_t kBleuOrders = 4;

/// Sums over sentences: add them up, then take bleu_of.
struct BleuStatistics {
  std::array<std::uint64_t, kBleuOrders>
      correct{};  // n-grams found in the references, clipped by the largest count there
  std::array<std::uint64_t, kBleuOrders> total{};  // n-grams of the hypothesis
  std::uint64_t hypothesis_length = 0;             // words
  std::uint64_t reference_length = 0;              // words of the reference closest in length, of two the shorter

  BleuStatistics& operator+=(const BleuStatistics& other);
  friend bool operator==(const BleuStatistics&, const BleuStatistics&) = default;
};

struct Bleu {
  double score = 0;                              // 0 to 100; 0 when nothing matches, whatever the smoothing
  std::array<double, kBleuOrders> precisions{};  // 0 to 100, smoothed
  double brevity_penalty = 0;
  double ratio = 0;  // hypothesis to reference length; 0 without reference words
  BleuStatistics statistics;
};

/// Of raw text. At least one reference; an empty one is a reference of no words.
BleuStatistics sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                   const BleuOptions& options);
/// Of every sentence, on all threads. references[k][i] is the k-th reference of hypothesis i. Throws Error when there
/// is no reference or their numbers differ.
std::vector<BleuStatistics> corpus_statistics(std::span<const std::string> hypotheses,
                                              std::span<const std::vector<std::string>> references,
                                              const BleuOptions& options);
Bleu bleu_of(const BleuStatistics& statistics, const BleuOptions& options);
/// Throws Error as corpus_statistics, and when there is nothing to score.
Bleu corpus_bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references,
                 const BleuOptions& options);
/// Words of one line of raw text, as BLEU counts them.
std::size_t word_count(std::string_view line, const BleuOptions& options);

struct Bootstrap {
  std::size_t samples = 1000;
  std::uint64_t seed = 12345;  // both: sacreBLEU's defaults
};
/// sacreBLEU's keys in its order, under our own name and version:
/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:..."; with a bootstrap "nrefs:1|bs:1000|seed:12345|case:...".
std::string signature(const BleuOptions& options, std::size_t references,
                      const std::optional<Bootstrap>& bootstrap = std::nullopt);
/// "48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)", as sacreBLEU prints it.
std::string describe(const Bleu& bleu);

}  // namespace rnnsearch::evaluate

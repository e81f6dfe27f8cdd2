// chrF (Popovic 2015) and chrF++ (Popovic 2017) as in sacreBLEU 2.x (Post 2018), with equal numbers up to the rounding
// of a double.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/evaluate/bleu.h"

namespace rnnsearch::evaluate {

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

}  // namespace rnnsearch::evaluate

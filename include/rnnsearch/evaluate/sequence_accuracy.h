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
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rnnsearch/evaluate/bleu.h"

namespace rnnsearch::evaluate {

/// Whether to compute sequence accuracy, and for which part of the output. PSA is the same for both.
///   kWhole  LCSR of the whole output: words past the length of the reference may still match.
///   kCut    LCSR of the first |t| words of the output, the protocol of the replication.
/// LCSR and GeoMean with kCut are at most those with kWhole.
enum class SequenceAccuracyMode { kNone, kWhole, kCut };
constexpr auto names_of(SequenceAccuracyMode) {
  return std::array{Named{SequenceAccuracyMode::kNone, "none"}, Named{SequenceAccuracyMode::kWhole, "whole"},
                    Named{SequenceAccuracyMode::kCut, "cut"}};
}
using rnnsearch::name_of;
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

// Accuracy of tasks with one right answer, such as reversing a sequence, as the replication of RNNsearch in
// https://github.com/zhengyang-2002/Paper_reading-Replicating measures it (Code/Bahdanau-Attention.ipynb,
// calculate_metrics and evaluate). Of a sequence i with reference t of |t| > 0 words and output p:
//   PSA_i      |{k <= |t| : p_k = t_k}| / |t|           position-wise accuracy
//   LCSR_i     length of the longest common subsequence of t and p / |t|
//   GeoMean_i  sqrt(PSA_i LCSR_i)
// A reference without words counts 0 in all three, whatever the output is. The score of a set is the mean of each over
// its sequences; by the Cauchy-Schwarz inequality the mean of GeoMean_i is at most the square root of the product of
// the other two means, and they are equal only when all sequences have the same ratio PSA_i / LCSR_i.
// Words are separated by white space.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/evaluate/bleu.h"

namespace rnnsearch::evaluate {

/// Whether sequence accuracy is computed, and of how much of the output. PSA is the same for both.
///   kWhole  LCSR of the whole output: words past the reference's length may still match.
///   kCut    LCSR of the output's first |t| words, the replication's protocol.
/// LCSR and GeoMean under kCut are at most those under kWhole.
enum class SequenceAccuracyMode { kNone, kWhole, kCut };
SequenceAccuracyMode sequence_accuracy_mode_of(const std::string& name);  // "none", "whole", "cut"; throws Error
std::string name_of(SequenceAccuracyMode mode);
/// One sentence for legends: how the figures are averaged, and whether the output was cut. Empty of kNone.
std::string legend_of(SequenceAccuracyMode mode);

struct SequenceAccuracyOptions {
  bool lowercase = false;
  /// Keep only the first |t| words of the output. Off: an LCSR is defined for the whole output, and cutting it is a
  /// convention of one protocol, whose decoder ran for as many steps as the longest target of the batch.
  bool cut_output = false;
};

/// Of a sequence, or the mean of each member over sequences. All from 0 to 1; psa <= geometric_mean <= lcsr.
struct SequenceAccuracy {
  double psa = 0, lcsr = 0;
  double geometric_mean = 0;  // of a set: the mean of sqrt(PSA_i LCSR_i)

  friend bool operator==(const SequenceAccuracy&, const SequenceAccuracy&) = default;
};

/// Exact. Time: a.size() b.size() / 64 and a.size() + b.size() look-ups (bit-parallel: Hyyro 2004).
std::size_t longest_common_subsequence(std::span<const std::string_view> a, std::span<const std::string_view> b);

/// Of one sequence. With several references (at least one) each of the three measures takes the reference that gives it
/// the largest value. Throws Error without a reference.
SequenceAccuracy sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                     const SequenceAccuracyOptions& options = {});
/// Of each sequence; references[k] is the k-th set. Throws Error when there is no reference or their numbers differ.
std::vector<SequenceAccuracy> sequence_accuracies(std::span<const std::string> hypotheses,
                                                  std::span<const std::vector<std::string>> references,
                                                  const SequenceAccuracyOptions& options = {});
/// The mean of each measure, every sequence with the same weight; NaN of none.
SequenceAccuracy mean_of(std::span<const SequenceAccuracy> sentences);

/// In the manner of sacreBLEU: "nrefs:1|case:mixed|tok:none|output:cut|mean:sentences|version:..."
std::string signature(const SequenceAccuracyOptions& options, std::size_t references,
                      const std::optional<Bootstrap>& bootstrap = std::nullopt);

}  // namespace rnnsearch::evaluate

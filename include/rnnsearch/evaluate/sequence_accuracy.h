// How much of a reference a translation has in its place, and how much in its order: for tasks with one right answer,
// such as reversing a sequence.
//   PSA   the share of the reference's positions at which the hypothesis has the same word
//   LCSR  the length of the longest common subsequence of words over the reference's length
// Both are recalls, 0 to 1, and LCSR is never below PSA. Words are what white space separates. Nothing is taken off for
// what a hypothesis has beyond the reference. Of a sentence without words the empty hypothesis has all, others nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/evaluate/bleu.h"

namespace rnnsearch::evaluate {

struct SequenceAccuracyOptions {
  bool lowercase = false;
};

/// Of a sentence, or the mean over sentences.
struct SequenceAccuracy {
  double psa = 0, lcsr = 0;

  /// sqrt(psa lcsr). Of a set: that of its two means, not the mean over its sentences.
  double geometric_mean() const;
  friend bool operator==(const SequenceAccuracy&, const SequenceAccuracy&) = default;
};

/// Exact. Time: a.size() b.size() / 64 and a.size() + b.size() look-ups (bit-parallel: Hyyro 2004).
std::size_t longest_common_subsequence(std::span<const std::string_view> a, std::span<const std::string_view> b);

/// With several references (at least one) each of the two measures takes the reference that is best for it.
SequenceAccuracy sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                     const SequenceAccuracyOptions& options = {});
/// Of each sentence; references[k] is the k-th set. Throws Error when there is no reference or their numbers differ.
std::vector<SequenceAccuracy> sequence_accuracies(std::span<const std::string> hypotheses,
                                                  std::span<const std::vector<std::string>> references,
                                                  const SequenceAccuracyOptions& options = {});
/// The mean of each measure, all sentences alike; NaN of none.
SequenceAccuracy mean_of(std::span<const SequenceAccuracy> sentences);

/// In the manner of sacreBLEU: "nrefs:1|case:mixed|tok:none|mean:sentences|version:..."
std::string signature(const SequenceAccuracyOptions& options, std::size_t references,
                      const std::optional<Bootstrap>& bootstrap = std::nullopt);

}  // namespace rnnsearch::evaluate

// BLEU by sentence length: what figure 2 of Bahdanau, Cho and Bengio (2015) shows, with the means to judge it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/evaluate/bleu.h"

namespace rnnsearch::evaluate {

/// Whose words put a sentence into its bucket. With several references it is the first one.
enum class LengthOf { kReference, kSource };
LengthOf length_of(const std::string& name);  // "reference", "source"; throws Error naming them
std::string name_of(LengthOf length);

struct BucketOptions {
  std::vector<std::size_t> edges{10, 20, 30,
                                 40, 50, 60};  // the last length of each bucket, ascending; one more is above
  LengthOf length = LengthOf::kReference;      // compare-mt's default; the paper's text suggests the source
  Bootstrap bootstrap;                         // no samples: no intervals
  bool chrf = false;                           // of all sentences, chrF and chrF++ besides
};

/// Below this many sentences a score is marked as one not to trust.
inline constexpr std::size_t kReliableSentences = 100;

struct BucketScore {
  std::string label;  // "up to 10", "11-20", "over 60", "all", "without unknown words"
  std::size_t sentences = 0;
  Bleu bleu;
  /// 95% of the bootstrap samples' scores (percentiles, as sacreBLEU takes them) lie within; both 0 without sentences
  /// or samples.
  double low = 0, high = 0;

  bool reliable() const { return sentences >= kReliableSentences; }
};

/// Of all sentences.
struct OtherScore {
  std::string name;  // "chrF", "chrF++"
  double score = 0;
  std::string signature;
};

struct Evaluation {
  std::string system;  // its name in a table
  std::string signature;
  LengthOf length = LengthOf::kReference;
  std::vector<BucketScore> buckets;  // all of them, also those without sentences
  BucketScore all;
  std::optional<BucketScore> without_unknown_words;
  std::vector<OtherScore> others;
};

/// Views of what the caller owns; line i of each belongs to the same sentence.
struct EvaluationInput {
  std::string system;
  std::span<const std::string> hypotheses;
  std::span<const std::vector<std::string>> references;  // [k][i]
  std::span<const std::string> sources;                  // may be empty when lengths are the references'
  /// known[i]: sentence i has no word outside the vocabularies, in source nor reference. Null: no such row.
  const std::vector<bool>* known = nullptr;
};

/// Throws Error when numbers of lines differ, there are no lines, or the edges do not ascend. The result is a function
/// of input and options, not of the number of threads; systems scored with the same references and seed see the same
/// samples.
Evaluation evaluate_by_length(const EvaluationInput& input, const BleuOptions& bleu_options,
                              const BucketOptions& options);

/// A text table of fixed width: a row a bucket, a column a system. All systems must have been scored on the same
/// sentences with the same options: throws Error otherwise. Ends with a line end.
std::string render_table(std::span<const Evaluation> systems);
Json to_json(const Evaluation& evaluation);

}  // namespace rnnsearch::evaluate

// Systems scored side by side on one test set: overall, by bucket, with intervals, and against a baseline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/evaluate/bleu.h"
#include "rnnsearch/evaluate/buckets.h"
#include "rnnsearch/evaluate/sequence_accuracy.h"
#include "rnnsearch/evaluate/significance.h"
#include "rnnsearch/evaluate/word_accuracy.h"

namespace rnnsearch::evaluate {

/// Views of what the caller owns; line i of each belongs to the same sentence.
struct TestSet {
  std::string name;                                      // "test/news"; empty: it has none
  std::span<const std::vector<std::string>> references;  // [k][i]
  std::span<const std::string> sources;                  // may be empty when lengths are the references'
  /// Share of words outside the vocabularies in source and first reference. Empty: not known.
  std::span<const double> unknown_shares;
  /// Training-set frequency of the rarest word of the first reference, or kNoWord. Empty: not known.
  std::span<const std::uint64_t> rarest_words;
  const WordFrequencies* frequencies = nullptr;  // null: not known
};

struct SystemOutput {
  std::string system;  // its name in a table
  std::span<const std::string> hypotheses;
};

struct EvaluationOptions {
  BleuOptions bleu;
  bool chrf = false;  // chrF and chrF++ besides
  bool ter = false;   // TER besides, of lower-cased words split at white space, as sacreBLEU's default
  /// PSA, LCSR and GeoMean besides, times 100, of words separated by white space. None: figures of the whole and of the
  /// cut output cannot be compared, so the one that is wanted has to be named.
  SequenceAccuracyMode sequence_accuracy = SequenceAccuracyMode::kNone;
  std::vector<std::size_t> edges{10, 20, 30,
                                 40, 50, 60};           // the last length of each bucket, ascending; one more is above
  LengthOf length = LengthOf::kReference;               // compare-mt's default; the paper's text suggests the source
  std::optional<text::BleuTokenizer> length_tokenizer;  // counts words for the buckets; null: that of BLEU
  Bootstrap bootstrap;                                  // of the 95% intervals; no samples: none
  SignificanceOptions significance;
  std::string baseline;  // what the others are compared with; empty: the first system
  bool by_unknown_share = false, by_rarest_word = false, words_by_frequency = false;  // more of it, where known
  bool sentences = false;                                                             // and every sentence
};

/// Below this many sentences a score is marked as one not to trust.
inline constexpr std::size_t kReliableSentences = 100;

struct MetricScore {
  std::string metric;  // "chrF", "chrF++", "TER", "PSA", "LCSR", "GeoMean"
  double score = 0;
  double low = 0, high = 0;  // as of BucketScore
};

struct BucketScore {
  std::string label;  // "up to 10", "11-20", "over 60", "all", "without unknown words"
  std::size_t sentences = 0;
  Bleu bleu;
  /// 95% of the bootstrap samples' scores (percentiles, as sacreBLEU takes them) lie within; both 0 without sentences
  /// or samples.
  double low = 0, high = 0;
  std::vector<MetricScore> others;

  bool reliable() const { return sentences >= kReliableSentences; }
};

struct SystemEvaluation {
  std::string system;
  std::string signature;                                        // of BLEU
  std::vector<std::pair<std::string, std::string>> signatures;  // of the other metrics, by name
  BucketScore all;
  std::optional<BucketScore> without_unknown_words;  // where shares of unknown words are known
  std::vector<BucketScore> buckets;                  // by length; all of them, also those without sentences
  std::vector<BucketScore> by_unknown_share, by_rarest_word;
  std::vector<WordAccuracy> words_by_frequency;
};

/// The length bucket with the highest BLEU, of those with at least kReliableSentences, or when there are none of those
/// with sentences; null without sentences.
const BucketScore* best_bucket(const SystemEvaluation& system);
/// BLEU of a length bucket over that of best_bucket. Null without sentences, or when the best BLEU is 0.
std::optional<double> share_of_best(const SystemEvaluation& system, std::size_t bucket);

/// One sentence, scored as sacreBLEU's sentence_score does: smoothing exp, effective order.
struct SentenceEvaluation {
  struct OfSystem {
    std::string system, hypothesis;
    double bleu = 0;
    std::vector<MetricScore> others;  // without intervals
  };
  std::size_t line = 0;  // from 1
  std::optional<std::string> source;
  std::vector<std::string> references;
  std::string bucket;                   // label
  std::optional<double> unknown_share;  // of the words of source and first reference, where known
  std::vector<OfSystem> systems;
};

struct Evaluation {
  std::string set;                               // empty: it has no name
  std::string source_language, target_language;  // empty: not known. For the caller to fill in
  std::size_t references = 0;
  LengthOf length = LengthOf::kReference;
  text::BleuTokenizer length_tokenizer = text::BleuTokenizer::k13a;
  std::vector<std::size_t> edges;
  Bootstrap bootstrap;
  SignificanceOptions significance;
  std::string baseline;  // empty without a test
  SequenceAccuracyMode sequence_accuracy = SequenceAccuracyMode::kNone;
  std::vector<SystemEvaluation> systems;
  /// Of every system but the baseline, every metric, and the rows all, without unknown words, and by length that have
  /// sentences. Empty without a test.
  std::vector<Comparison> comparisons;
  std::vector<SentenceEvaluation> sentences;  // where asked for
};

/// Throws Error when numbers of lines differ, there are no lines, the edges do not ascend, two systems have one name,
/// the baseline is none of them or alone, or what a breakdown needs is not known. The result is a function of input and
/// options, not of the number of threads; all systems see the same samples. `poll` is called now and then on the
/// calling thread; what it throws ends the evaluation.
Evaluation evaluate(const TestSet& test, std::span<const SystemOutput> systems, const EvaluationOptions& options,
                    const std::function<void()>& poll = {});

}  // namespace rnnsearch::evaluate

// Evaluates systems side by side on one test set: overall, by bucket, with confidence intervals, and against a
// baseline. The result is written as JSON and read back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/evaluate/bleu.h"
#include "rnnsearch/evaluate/buckets.h"
#include "rnnsearch/evaluate/sequence_accuracy.h"
#include "rnnsearch/evaluate/significance.h"
#include "rnnsearch/evaluate/ter.h"

namespace rnnsearch::evaluate {

/// Line i of each belongs to the same sentence.
struct TestSet {
  std::string name;                                  // such as "test/news"; empty if it has no name
  std::vector<std::vector<std::string>> references;  // [k][i]
  std::vector<std::string> sources;                  // may be empty if lengths are those of the references
  /// Share of words outside the vocabularies in source and first reference. Empty if unknown.
  std::vector<double> unknown_shares;
  /// Training-set frequency of the rarest word of the first reference, or kNoWord. Empty if unknown.
  std::vector<std::uint64_t> rarest_words;
  WordFrequencies frequencies;                       // without functions if unknown
  std::string source_language{}, target_language{};  // empty if unknown
};

struct SystemOutput {
  std::string system;  // the name of the system in tables
  std::span<const std::string> hypotheses;
};

struct EvaluationOptions {
  BleuOptions bleu;
  bool chrf = false;  // also compute chrF and chrF++
  bool ter = false;   // also compute TER
  TerOptions ter_options;
  /// Also compute PSA, LCSR and GeoMean, times 100, on words separated by white space. There is no default mode,
  /// because figures of whole and of cut outputs cannot be compared.
  SequenceAccuracyMode sequence_accuracy = SequenceAccuracyMode::kNone;
  /// The largest length of each bucket, ascending; one more bucket holds longer sentences.
  std::vector<std::size_t> edges{10, 20, 30, 40, 50, 60};
  LengthOf length = LengthOf::kReference;               // compare-mt's default; the paper's text suggests the source
  std::optional<text::BleuTokenizer> length_tokenizer;  // counts words for the buckets; if empty, that of BLEU
  Bootstrap bootstrap;                                  // for the 95% intervals; without samples there are none
  SignificanceOptions significance;
  std::string baseline;  // the system that the others are compared with; if empty, the first one
  bool by_unknown_share = false, by_rarest_word = false, words_by_frequency = false;  // further breakdowns
  bool sentences = false;                                                             // also report every sentence
};

/// All options, except those that only affect how the result is printed.
void declare(OptionList& options, EvaluationOptions& o);

/// Throws Error for a combination of options in which one would be ignored.
void check(const EvaluationOptions& options);

/// Throws Error if two systems have the same name, or for a test of significance or a baseline that these systems do
/// not allow. `systems`: their names.
void check_systems(const EvaluationOptions& options, std::span<const std::string> systems);

/// Scores over fewer sentences are marked as unreliable.
inline constexpr std::size_t kReliableSentences = 100;

/// The metrics besides BLEU, in the order of tables.
inline constexpr std::array kOtherMetrics{"chrF", "chrF++", "TER", "PSA", "LCSR", "GeoMean"};

struct MetricScore {
  std::string metric;  // one of kOtherMetrics
  double score = 0;
  std::optional<double> low, high;  // see BucketScore
  std::string signature;            // empty for single sentences
};

struct BucketScore {
  std::string label;  // such as "up to 10", "11-20", "over 60", "all" or "without unknown words"
  std::size_t sentences = 0;
  Bleu bleu;
  /// The interval that holds 95% of the bootstrap samples' scores (percentiles as in sacreBLEU); absent without
  /// sentences or samples.
  std::optional<double> low, high;
  std::vector<MetricScore> others;

  bool reliable() const { return sentences >= kReliableSentences; }
};

struct SystemEvaluation {
  std::string system;
  std::string signature;  // of BLEU
  std::string model;      // the digest of the parameters that translated (train::digest_of); empty if they are unknown
  BucketScore all;
  std::optional<BucketScore> without_unknown_words;  // if the shares of unknown words are known
  std::vector<BucketScore> buckets;                  // all length buckets, also those without sentences
  std::vector<BucketScore> by_unknown_share, by_rarest_word;
  std::vector<WordAccuracy> words_by_frequency;
};

/// The scores over all sentences: BLEU, then the others.
std::vector<MetricScore> scores_of(const SystemEvaluation& system);
/// The one of this metric. Empty if there is none.
std::optional<MetricScore> score_of(const SystemEvaluation& system, const std::string& metric);
/// The length bucket with the highest BLEU among those with at least kReliableSentences, or among all with sentences if
/// there are none. Returns nullptr without sentences.
const BucketScore* best_bucket(const SystemEvaluation& system);
/// The BLEU of a length bucket divided by that of best_bucket. Empty without sentences, or if the best BLEU is 0.
std::optional<double> share_of_best(const SystemEvaluation& system, std::size_t bucket);

/// The scores of one sentence, as from sacreBLEU's sentence_score: smoothing exp, effective order.
struct SentenceEvaluation {
  struct OfSystem {
    std::string system, hypothesis;
    double bleu = 0;
    std::vector<MetricScore> others;  // without intervals
  };
  std::size_t line = 0;  // from 1
  std::optional<std::string> source;
  std::vector<std::string> references;
  std::string bucket;                   // label of its length bucket
  std::optional<double> unknown_share;  // share of unknown words in source and first reference, if known
  std::vector<OfSystem> systems;
};

struct Evaluation {
  std::optional<std::string> set;
  std::string source_language, target_language;  // empty if unknown
  std::size_t references = 1;
  LengthOf length = LengthOf::kReference;
  text::BleuTokenizer length_tokenizer = text::BleuTokenizer::k13a;
  std::vector<std::size_t> edges;
  std::optional<Bootstrap> bootstrap;  // empty if there are no intervals
  SequenceAccuracyMode sequence_accuracy = SequenceAccuracyMode::kNone;
  std::vector<SystemEvaluation> systems;
  /// One for every system except the baseline, every metric, and every row with sentences: all, without unknown words,
  /// and the length buckets. Empty without a significance test.
  std::vector<Comparison> comparisons;
  std::vector<SentenceEvaluation> sentences;  // if requested
};

/// The first comparison of the system by this metric in this row. Returns nullptr if there is none.
const Comparison* comparison_of(const Evaluation& evaluation, const std::string& system, const std::string& metric,
                                const std::string& row);

/// Throws Error if there are no lines. The result depends only on the input and the options, not on the number of
/// threads; all systems use the same samples. `poll` is called now and then on the calling thread; an exception that it
/// throws ends the evaluation. REQUIRES: check, check_edges and check_systems passed; all texts have as many lines, and
/// what options.length and the breakdowns need is known.
Evaluation evaluate(const TestSet& test, std::span<const SystemOutput> systems, const EvaluationOptions& options,
                    const std::function<void()>& poll = {});

/// The object that `rnnsearch evaluate --json` prints: format "rnnsearch-evaluation", version 1.
Json to_json(const Evaluation& evaluation);

/// What to_json wrote, though not its "format". location: begins errors, such as the name of the file. Throws Error,
/// naming the location in it, for members that are missing, of the wrong type or out of range, and for systems of one
/// name or with different rows.
Evaluation from_json(const Json& json, const std::string& location);

/// The maximum number of systems in a length chart, limited by the number of distinguishable marks.
inline constexpr std::size_t kChartSystems = 8;

/// A text chart of BLEU by sentence length, like figure 2 of Bahdanau, Cho and Bengio (2015), for a terminal or log file.
/// The chart has a curve for each system over the length buckets; the axis starts at BLEU 0. A bucket without sentences
/// interrupts the curve, and one with fewer than kReliableSentences is marked with an asterisk. Points at the same
/// place are drawn beside each other. Below the chart there are, for every system, its mark, its name, its best bucket,
/// and the BLEU of each bucket as a percentage of the best one. The text is plain ASCII except for the names of the
/// systems, without colours or cursor movement, ends with a line end, and is at most 80 columns wide (apart from names)
/// for up to 9 buckets with the usual labels. REQUIRES: at most kChartSystems systems.
std::string render_length_chart(const Evaluation& evaluation);

}  // namespace rnnsearch::evaluate

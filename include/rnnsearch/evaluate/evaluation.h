// Evaluates systems side by side on one test set: overall, by bucket, with confidence intervals, and against a
// baseline. The result is written as JSON and read back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/evaluate/metrics.h"

namespace rnnsearch::evaluate {

// Buckets of the sentences of a test set: by length, as in figure 2 of Bahdanau, Cho and Bengio (2015), and by the
// frequency of their words in the training text. Also word accuracy by that frequency, as in compare-mt (Neubig et al.
// 2019).

/// The side whose words determine the length bucket of a sentence. kReference: the first reference. kLongest: the
/// longer one of source and first reference, which is also the length that training limits.
enum class LengthOf { kReference, kSource, kLongest };
constexpr auto names_of(LengthOf) { return in_order<LengthOf>({"reference", "source", "longest"}); }

struct Buckets {
  std::vector<std::string> labels;
  std::vector<std::vector<std::size_t>> sentences;  // of each bucket, ascending; a sentence is in at most one bucket
};

/// Throws Error if the edges are not ascending.
void check_edges(std::span<const std::size_t> edges);
/// Buckets "up to 10", "11-20", ..., "over 60", where `edges` are the largest lengths. `tokens` is the tokenization for
/// counting words. Only the side that is measured must be given. REQUIRES: check_edges passed.
Buckets by_length(std::span<const std::string> references, std::span<const std::string> sources, LengthOf length,
                  std::span<const std::size_t> edges, const BleuOptions& tokens);

/// Buckets "none", "up to 5%", ... for shares in [0, 1].
Buckets by_unknown_share(std::span<const double> shares);

/// The frequency of the rarest word of a sentence without words.
inline constexpr std::uint64_t kNoWord = std::numeric_limits<std::uint64_t>::max();
/// Buckets of training-set frequencies: "unknown" (0), "1-9", "10-99", "100-999", "1000 and more".
const std::vector<std::string>& frequency_labels();
std::size_t frequency_bucket(std::uint64_t frequency);
/// Sentences with the frequency kNoWord are in no bucket.
Buckets by_frequency(std::span<const std::uint64_t> frequencies);

/// The target side of the training text. Both functions are called on several threads.
struct WordFrequencies {
  std::function<std::vector<std::string>(std::string_view line)> words;  // splits a raw line as for training
  std::function<std::uint64_t(std::string_view word)> count;  // count in the training text; 0 outside the vocabulary
};

/// The accuracy for the words of one frequency bucket. A word of a hypothesis is correct if the reference of its
/// sentence contains it, at most as often as there.
struct WordAccuracy {
  std::string label;             // one of frequency_labels()
  std::uint64_t words = 0;       // number of words in the references
  std::uint64_t hypothesis = 0;  // number of words in the hypotheses
  std::uint64_t correct = 0;

  // From 0 to 1; 0 without words.
  double precision() const { return ratio(correct, hypothesis); }
  double recall() const { return ratio(correct, words); }
  double f1() const { return ratio(2 * correct, hypothesis + words); }  // the harmonic mean of the two

 private:
  static double ratio(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

/// Returns one element for each of frequency_labels(). REQUIRES: as many references as hypotheses.
std::vector<WordAccuracy> word_accuracies(std::span<const std::string> hypotheses,
                                          std::span<const std::string> references, const WordFrequencies& frequencies);

// Tests of significance.

enum class SignificanceTest { kNone, kBootstrap, kRandomization };
constexpr auto names_of(SignificanceTest) { return in_order<SignificanceTest>({"none", "bootstrap", "randomization"}); }

/// A difference with a p value below this is marked in tables.
inline constexpr double kSignificant = 0.05;
/// The fewest sentences for which there is a p value.
inline constexpr std::size_t kFewestTested = 6;

struct SignificanceOptions {
  SignificanceTest test = SignificanceTest::kNone;
  std::optional<std::size_t> samples;  // default: sacreBLEU's 1,000 (bootstrap) or 10,000 (randomization)

  std::size_t sample_count() const { return samples.value_or(test == SignificanceTest::kRandomization ? 10000 : 1000); }
};

/// "paired bootstrap resampling, 1,000 samples, seed 12345"
std::string description_of(SignificanceTest test, std::size_t samples, std::uint64_t seed);

/// The comparison of two systems by one metric in one row of a table.
struct Comparison {
  SignificanceTest test = SignificanceTest::kNone;
  std::string baseline, system;
  std::string metric;       // "BLEU", "chrF", ...
  std::string row;          // "all", or the label of a bucket
  double difference = 0;    // score of the system minus that of the baseline
  std::optional<double> p;  // absent with fewer than kFewestTested sentences
  std::size_t samples = 0;
  std::uint64_t seed = 0;

  bool significant() const { return p && *p < kSignificant; }
};

// The mean score of several trainings with different seeds, with its confidence interval.

/// Statistics of n independent rounds.
struct RoundMean {
  std::size_t rounds = 0;
  double mean = 0, least = 0, most = 0;
  /// The 95% confidence interval of the mean is mean +- half_width: Student's t with n - 1 degrees of freedom times the
  /// standard error. Infinite for a single round. The interval may exceed the range of the scores, such as 100.
  double half_width = 0;
};

/// REQUIRES: at least one score.
RoundMean mean_over_rounds(std::span<const double> scores);

// The evaluation.

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
  Bootstrap bootstrap;  // for the 95% intervals; without samples there are none. The seed is that of significance, too
  SignificanceOptions significance;
  std::string baseline;  // the system that the others are compared with; if empty, the first one
  bool by_unknown_share = false, by_rarest_word = false, words_by_frequency = false;  // further breakdowns
  bool sentences = false;                                                             // also report every sentence
};

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
/// throws ends the evaluation. REQUIRES: check_edges passed; systems have names of their own, of which the
/// baseline is one unless it is empty; a test of significance has two systems; all texts have as many lines, and
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

/// A text chart of BLEU by sentence length, like figure 2 of Bahdanau, Cho and Bengio (2015), for a terminal or log
/// file. The chart has a curve for each system over the length buckets; the axis starts at BLEU 0. A bucket without
/// sentences interrupts the curve, and one with fewer than kReliableSentences is marked with an asterisk. Points at the
/// same place are drawn beside each other. Below the chart there are, for every system, its mark, its name, its best
/// bucket, and the BLEU of each bucket as a percentage of the best one. The text is plain ASCII except for the names of
/// the systems, without colours or cursor movement, ends with a line end, and is at most 80 columns wide (apart from
/// names) for up to 9 buckets with the usual labels. REQUIRES: at most kChartSystems systems.
std::string render_length_chart(const Evaluation& evaluation);

}  // namespace rnnsearch::evaluate

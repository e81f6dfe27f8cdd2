#include "rnnsearch/evaluate/evaluation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "evaluate/resampling.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/evaluate/chrf.h"

namespace rnnsearch::evaluate {
namespace {

/// Sequence accuracy in units of 1e-9, so that its sums are exact.
struct SequenceCounts {
  static constexpr bool kAddsUp = true;
  static constexpr double kUnits = 1e9;
  std::uint64_t psa, lcsr, geometric_mean, sequences;
};

SequenceCounts in_units(const SequenceAccuracy& sentence) {
  const auto units = [](double share) {
    return static_cast<std::uint64_t>(std::llround(share * SequenceCounts::kUnits));
  };
  return {units(sentence.psa), units(sentence.lcsr), units(sentence.geometric_mean), 1};
}

/// The statistics of the sentences of one system: those of BLEU, then of each other metric that was asked for.
std::vector<Counts> counts_of_metrics(std::span<const std::string> hypotheses,
                                      std::span<const std::vector<std::string>> references,
                                      const EvaluationOptions& options, const std::optional<Bootstrap>& bootstrap,
                                      const std::function<void()>& poll) {
  std::vector<Counts> metrics;
  const auto counts = [&](const auto& of_metric) {
    return counts_of(corpus_statistics(hypotheses, references, of_metric));
  };
  // width: how many of the statistics the score needs.
  const auto add = [&](const char* name, const auto& of_metric, const Counts& all, const auto& score,
                       std::size_t width = Counts::kMaxWidth) {
    metrics.push_back(with_metric(all, name, std::function(score), width));
    metrics.back().signature = signature(of_metric, references.size(), bootstrap);
    if (poll) poll();
  };
  const BleuOptions& bleu = options.bleu;
  add("BLEU", bleu, counts(bleu), [bleu](const BleuStatistics& sum) { return bleu_of(sum, bleu).score; });
  const std::size_t k = references.size();
  if (options.chrf) {
    const ChrfOptions characters{.lowercase = bleu.lowercase};
    const ChrfOptions words{.word_orders = kWordOrders, .lowercase = bleu.lowercase};
    const auto score = [](const ChrfOptions& of_metric) {
      return [of_metric](const ChrfStatistics& sum) { return chrf_of(sum, of_metric); };
    };
    const Counts of_words = counts(words);
    // With several references, each score chooses its own best reference.
    add("chrF", characters, k == 1 ? of_words : counts(characters), score(characters), 3 * kCharacterOrders);
    add("chrF++", words, of_words, score(words));
  }
  if (options.ter) {
    const TerOptions& ter = options.ter_options;
    add("TER", ter, counts(ter), [k](const TerStatistics& sum) { return ter_of(sum, k); });
  }
  if (options.sequence_accuracy != SequenceAccuracyMode::kNone) {
    const SequenceAccuracyOptions sequence{.lowercase = bleu.lowercase,
                                           .cut_output = options.sequence_accuracy == SequenceAccuracyMode::kCut};
    std::vector<SequenceCounts> sentences;
    for (const auto& sentence : corpus_statistics(hypotheses, references, sequence)) {
      sentences.push_back(in_units(sentence));
    }
    const Counts all = counts_of(sentences);
    const auto mean_of = [](std::uint64_t SequenceCounts::*measure) {
      return [measure](const SequenceCounts& sum) {
        const double sequences = SequenceCounts::kUnits * static_cast<double>(sum.sequences);
        return sum.sequences == 0 ? 0.0 : 100 * (static_cast<double>(sum.*measure) / sequences);
      };
    };
    add("PSA", sequence, all, mean_of(&SequenceCounts::psa));
    add("LCSR", sequence, all, mean_of(&SequenceCounts::lcsr));
    add("GeoMean", sequence, all, mean_of(&SequenceCounts::geometric_mean));
  }
  return metrics;
}

/// The counts of each system, [system][metric]; the first metric is BLEU.
using Scored = std::vector<std::vector<Counts>>;

BleuStatistics bleu_statistics(const Counts& counts, std::span<const std::size_t> sentences) {
  return statistics_of<BleuStatistics>(sums_of(counts, sentences).data(), counts.width);
}

/// The BLEU options for single sentences.
BleuOptions for_sentences(BleuOptions options) {
  options.smoothing = Smoothing::kExp;
  options.smooth_value.reset();
  options.effective_order = true;
  return options;
}

std::vector<SentenceEvaluation> sentences_of(const TestSet& test, std::span<const SystemOutput> systems,
                                             const Scored& scored, const Buckets& buckets,
                                             const BleuOptions& bleu_options) {
  std::vector<SentenceEvaluation> sentences(systems.front().hypotheses.size());
  for (std::size_t b = 0; b < buckets.labels.size(); ++b) {
    for (const std::size_t i : buckets.sentences[b]) sentences[i].bucket = buckets.labels[b];
  }
  const BleuOptions options = for_sentences(bleu_options);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    sentences[i].line = i + 1;
    if (!test.sources.empty()) sentences[i].source = test.sources[i];
    if (!test.unknown_shares.empty()) sentences[i].unknown_share = test.unknown_shares[i];
    for (const auto& references : test.references) sentences[i].references.push_back(references[i]);
    for (std::size_t s = 0; s < systems.size(); ++s) {
      SentenceEvaluation::OfSystem of_system{
          systems[s].system,
          systems[s].hypotheses[i],
          bleu_of(bleu_statistics(scored[s].front(), std::span(&i, 1)), options).score,
          {}};
      for (std::size_t m = 1; m < scored[s].size(); ++m) {
        const Counts& counts = scored[s][m];
        of_system.others.push_back({counts.metric, score_of(counts, std::span(&i, 1)), {}, {}, {}});
      }
      sentences[i].systems.push_back(std::move(of_system));
    }
  }
  return sentences;
}

class Evaluator {
 public:
  Evaluator(const Scored& scored, const EvaluationOptions& options, std::size_t baseline, Evaluation& evaluation)
      : scored_(scored), options_(options), baseline_(baseline), evaluation_(evaluation) {}

  /// Returns the row for every system, and adds its comparisons if `compared` is set.
  std::vector<BucketScore> row(const std::string& label, std::span<const std::size_t> sentences, bool compared) {
    const std::size_t metrics = scored_.front().size();
    const SignificanceOptions& significance = options_.significance;
    const bool tested = compared && significance.test != SignificanceTest::kNone && !sentences.empty();
    std::size_t samples = options_.bootstrap.samples;
    if (tested && significance.test == SignificanceTest::kBootstrap && significance.seed == options_.bootstrap.seed) {
      samples = std::max(samples, significance.sample_count());
    }
    std::vector<const Counts*> tables;  // [system][metric]
    for (const auto& of_system : scored_) {
      for (const Counts& counts : of_system) tables.push_back(&counts);
    }
    std::vector<std::vector<double>> scores;
    if (!sentences.empty() && samples > 0) {
      scores = bootstrap_scores(tables, sentences, samples, options_.bootstrap.seed);
    }
    const auto interval = [&](std::size_t table, std::optional<double>& low, std::optional<double>& high) {
      if (sentences.empty() || options_.bootstrap.samples == 0) return;
      std::vector<double> sorted(scores[table].begin(),
                                 scores[table].begin() + static_cast<std::ptrdiff_t>(options_.bootstrap.samples));
      std::sort(sorted.begin(), sorted.end());
      const std::size_t tail = sorted.size() / 40;
      low = sorted[tail];
      high = sorted[sorted.size() - 1 - tail];
    };
    std::vector<BucketScore> rows(scored_.size());
    std::vector<double> points(tables.size());  // the scores without resampling
    for (std::size_t s = 0; s < scored_.size(); ++s) {
      BucketScore& row = rows[s];
      row.label = label;
      row.sentences = sentences.size();
      row.bleu = bleu_of(bleu_statistics(scored_[s].front(), sentences), options_.bleu);
      for (std::size_t m = 0; m < metrics; ++m) {
        const Counts& counts = scored_[s][m];
        MetricScore score{counts.metric, score_of(counts, sentences), {}, {}, counts.signature};
        points[s * metrics + m] = score.score;
        interval(s * metrics + m, score.low, score.high);
        if (m == 0) {
          row.low = score.low, row.high = score.high;
        } else {
          row.others.push_back(std::move(score));
        }
      }
    }
    if (tested) compare(label, sentences, tables, points, scores);
    return rows;
  }

 private:
  void compare(const std::string& label, std::span<const std::size_t> sentences,
               const std::vector<const Counts*>& tables, const std::vector<double>& points,
               std::vector<std::vector<double>>& scores) {
    const SignificanceOptions& significance = options_.significance;
    const std::size_t metrics = scored_.front().size(), samples = significance.sample_count();
    const bool enough = sentences.size() >= kFewestTested;
    if (enough && significance.test == SignificanceTest::kBootstrap && significance.seed != options_.bootstrap.seed) {
      scores = bootstrap_scores(tables, sentences, samples, significance.seed);
    }
    for (std::size_t s = 0; s < scored_.size(); ++s) {
      if (s == baseline_) continue;
      for (std::size_t m = 0; m < metrics; ++m) {
        const std::size_t ours = s * metrics + m, theirs = baseline_ * metrics + m;
        Comparison comparison{significance.test,
                              evaluation_.systems[baseline_].system,
                              evaluation_.systems[s].system,
                              tables[ours]->metric,
                              label,
                              points[ours] - points[theirs],
                              {},
                              samples,
                              significance.seed};
        if (!enough) {
          // The test cannot tell.
        } else if (significance.test == SignificanceTest::kBootstrap) {
          comparison.p = paired_bootstrap_p(std::span(scores[theirs]).first(samples),
                                            std::span(scores[ours]).first(samples), comparison.difference);
        } else {
          const auto differences =
              randomized_differences(*tables[theirs], *tables[ours], sentences, samples, significance.seed);
          comparison.p = p_value(differences, comparison.difference);
        }
        evaluation_.comparisons.push_back(std::move(comparison));
      }
    }
  }

  const Scored& scored_;
  const EvaluationOptions& options_;
  std::size_t baseline_;
  Evaluation& evaluation_;
};

}  // namespace

std::vector<MetricScore> scores_of(const SystemEvaluation& system) {
  const BucketScore& all = system.all;
  std::vector<MetricScore> scores{{"BLEU", all.bleu.score, all.low, all.high, system.signature}};
  scores.insert(scores.end(), all.others.begin(), all.others.end());
  return scores;
}

std::optional<MetricScore> score_of(const SystemEvaluation& system, const std::string& metric) {
  for (const MetricScore& score : scores_of(system)) {
    if (score.metric == metric) return score;
  }
  return std::nullopt;
}

const Comparison* comparison_of(const Evaluation& evaluation, const std::string& system, const std::string& metric,
                                const std::string& row) {
  for (const Comparison& comparison : evaluation.comparisons) {
    if (comparison.system == system && comparison.metric == metric && comparison.row == row) return &comparison;
  }
  return nullptr;
}

const BucketScore* best_bucket(const SystemEvaluation& system) {
  const BucketScore* best = nullptr;
  for (const BucketScore& bucket : system.buckets) {
    if (bucket.sentences == 0) continue;
    if (best == nullptr || bucket.reliable() > best->reliable() ||
        (bucket.reliable() == best->reliable() && bucket.bleu.score > best->bleu.score)) {
      best = &bucket;
    }
  }
  return best;
}

std::optional<double> share_of_best(const SystemEvaluation& system, std::size_t bucket) {
  const BucketScore* const best = best_bucket(system);
  const BucketScore& score = system.buckets[bucket];
  if (best == nullptr || score.sentences == 0 || best->bleu.score == 0) return std::nullopt;
  return score.bleu.score / best->bleu.score;
}

Evaluation evaluate(const TestSet& test, std::span<const SystemOutput> systems, const EvaluationOptions& options,
                    const std::function<void()>& poll) {
  assert(!systems.empty());
  const std::size_t lines = systems.front().hypotheses.size();
  if (lines == 0) throw Error("evaluate: nothing to score: there are 0 hypotheses");
  const auto polled = [&] {
    if (poll) poll();
  };
  Evaluation evaluation;
  if (!test.name.empty()) evaluation.set = test.name;
  evaluation.source_language = test.source_language;
  evaluation.target_language = test.target_language;
  evaluation.references = test.references.size();
  evaluation.length = options.length;
  evaluation.length_tokenizer = options.length_tokenizer.value_or(options.bleu.tokenizer);
  evaluation.edges = options.edges;
  if (options.bootstrap.samples > 0) evaluation.bootstrap = options.bootstrap;
  evaluation.sequence_accuracy = options.sequence_accuracy;

  Scored scored;
  std::size_t baseline = 0;
  for (std::size_t s = 0; s < systems.size(); ++s) {
    scored.push_back(counts_of_metrics(systems[s].hypotheses, test.references, options, evaluation.bootstrap, poll));
    evaluation.systems.emplace_back().system = systems[s].system;
    evaluation.systems.back().signature = scored.back().front().signature;
    if (systems[s].system == options.baseline) baseline = s;
  }
  BleuOptions tokens = options.bleu;
  tokens.tokenizer = evaluation.length_tokenizer;
  const Buckets buckets = by_length(test.references[0], test.sources, options.length, options.edges, tokens);

  Evaluator evaluator(scored, options, baseline, evaluation);
  std::vector<std::size_t> all(lines);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto each = [&](std::vector<BucketScore> row, auto&& put) {
    for (std::size_t s = 0; s < systems.size(); ++s) put(evaluation.systems[s], std::move(row[s]));
    polled();
  };
  each(evaluator.row("all", all, true), [](auto& system, BucketScore&& row) { system.all = std::move(row); });
  if (!test.unknown_shares.empty()) {
    std::vector<std::size_t> known;
    std::copy_if(all.begin(), all.end(), std::back_inserter(known),
                 [&](auto i) { return test.unknown_shares[i] == 0; });
    each(evaluator.row("without unknown words", known, true),
         [](auto& system, BucketScore&& row) { system.without_unknown_words = std::move(row); });
  }
  const auto rows = [&](const Buckets& of_rows, std::vector<BucketScore> SystemEvaluation::*into, bool compared) {
    for (std::size_t b = 0; b < of_rows.labels.size(); ++b) {
      each(evaluator.row(of_rows.labels[b], of_rows.sentences[b], compared),
           [&](auto& system, BucketScore&& row) { (system.*into).push_back(std::move(row)); });
    }
  };
  rows(buckets, &SystemEvaluation::buckets, true);
  if (options.by_unknown_share) {
    rows(by_unknown_share(test.unknown_shares), &SystemEvaluation::by_unknown_share, false);
  }
  if (options.by_rarest_word) rows(by_frequency(test.rarest_words), &SystemEvaluation::by_rarest_word, false);
  for (std::size_t s = 0; options.words_by_frequency && s < systems.size(); ++s) {
    evaluation.systems[s].words_by_frequency =
        word_accuracies(systems[s].hypotheses, test.references[0], test.frequencies);
    polled();
  }
  if (options.sentences) evaluation.sentences = sentences_of(test, systems, scored, buckets, options.bleu);
  return evaluation;
}

}  // namespace rnnsearch::evaluate

#include "rnnsearch/evaluate/evaluation.h"

#include <mutex>
#include <numeric>
#include <tuple>

#include "evaluate/resampling.h"

namespace rnnsearch::evaluate {
namespace {

/// Sequence accuracy in units of 1e-9, so that its sums are exact.
struct SequenceCounts {
  static constexpr bool kAddsUp = true;
  std::uint64_t psa, lcsr, geometric_mean, sequences;
};

SequenceCounts in_units(const SequenceAccuracy& sentence) {
  const auto units = [](double share) { return static_cast<std::uint64_t>(std::llround(share * 1e9)); };
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
    for (const auto& sentence : corpus_statistics(hypotheses, references, sequence))
      sentences.push_back(in_units(sentence));
    const Counts all = counts_of(sentences);
    const auto mean_of = [](std::uint64_t SequenceCounts::*measure) {
      return [measure](const SequenceCounts& sum) {
        const double sequences = 1e9 * static_cast<double>(sum.sequences);
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
    if (tested && significance.test == SignificanceTest::kBootstrap)
      samples = std::max(samples, significance.sample_count());
    std::vector<const Counts*> tables;  // [system][metric]
    for (const auto& of_system : scored_) {
      for (const Counts& counts : of_system) tables.push_back(&counts);
    }
    std::vector<std::vector<double>> scores;
    if (!sentences.empty() && samples > 0)
      scores = bootstrap_scores(tables, sentences, samples, options_.bootstrap.seed);
    const auto interval = [&](std::size_t table, std::optional<double>& low, std::optional<double>& high) {
      if (sentences.empty() || options_.bootstrap.samples == 0) return;
      std::vector<double> sorted(scores[table].begin(),
                                 scores[table].begin() + static_cast<std::ptrdiff_t>(options_.bootstrap.samples));
      std::ranges::sort(sorted);
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
               const std::vector<std::vector<double>>& scores) {
    const SignificanceTest test = options_.significance.test;
    const std::size_t metrics = scored_.front().size(), samples = options_.significance.sample_count();
    const std::uint64_t seed = options_.bootstrap.seed;
    for (std::size_t s = 0; s < scored_.size(); ++s) {
      if (s == baseline_) continue;
      for (std::size_t m = 0; m < metrics; ++m) {
        const std::size_t ours = s * metrics + m, theirs = baseline_ * metrics + m;
        const double difference = points[ours] - points[theirs];
        std::optional<double> p;
        if (sentences.size() < kFewestTested) {
          // The test cannot tell.
        } else if (test == SignificanceTest::kBootstrap) {
          p = paired_bootstrap_p(std::span(scores[theirs]).first(samples), std::span(scores[ours]).first(samples),
                                 difference);
        } else {
          p = p_value(randomized_differences(*tables[theirs], *tables[ours], sentences, samples, seed), difference);
        }
        const auto& systems = evaluation_.systems;
        evaluation_.comparisons.push_back({test, systems[baseline_].system, systems[s].system, tables[ours]->metric,
                                           label, difference, p, samples, seed});
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
  const auto found = std::ranges::find_if(
      evaluation.comparisons, [&](const auto& c) { return c.system == system && c.metric == metric && c.row == row; });
  return found == evaluation.comparisons.end() ? nullptr : &*found;
}

const BucketScore* best_bucket(const SystemEvaluation& system) {
  const auto rank = [](const BucketScore& row) {
    return std::tuple(row.sentences > 0, row.reliable(), row.bleu.score);
  };
  const auto best = std::ranges::max_element(system.buckets, {}, rank);
  return best == system.buckets.end() || best->sentences == 0 ? nullptr : &*best;
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
  if (options.by_unknown_share) rows(by_unknown_share(test.unknown_shares), &SystemEvaluation::by_unknown_share, false);
  if (options.by_rarest_word) rows(by_frequency(test.rarest_words), &SystemEvaluation::by_rarest_word, false);
  for (std::size_t s = 0; options.words_by_frequency && s < systems.size(); ++s) {
    evaluation.systems[s].words_by_frequency =
        word_accuracies(systems[s].hypotheses, test.references[0], test.frequencies);
    polled();
  }
  if (options.sentences) evaluation.sentences = sentences_of(test, systems, scored, buckets, options.bleu);
  return evaluation;
}

namespace {

std::string label_of(std::span<const std::size_t> edges, std::size_t bucket) {
  if (edges.empty()) return "any";
  if (bucket == 0) return fmt::format("up to {}", edges[0]);
  if (bucket == edges.size()) return fmt::format("over {}", edges.back());
  const std::size_t first = edges[bucket - 1] + 1;
  return first == edges[bucket] ? std::to_string(first) : fmt::format("{}-{}", first, edges[bucket]);
}

/// The first bucket whose edge is not below the value; behind the last edge there is one more.
std::size_t bucket_of(const auto& edges, const auto& value) {
  return static_cast<std::size_t>(std::ranges::lower_bound(edges, value) - std::begin(edges));
}

}  // namespace

void check_edges(std::span<const std::size_t> edges) {
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (edges[i] <= edges[i - 1])
      throw UsageError(
          "evaluate: length buckets end at {} and then at {}; give ascending lengths, for instance 10,20,30",
          edges[i - 1], edges[i]);
  }
}

Buckets by_length(std::span<const std::string> references, std::span<const std::string> sources, LengthOf length,
                  std::span<const std::size_t> edges, const BleuOptions& tokens) {
  assert(length != LengthOf::kLongest || sources.size() == references.size());
  std::vector<std::size_t> chosen(length == LengthOf::kSource ? sources.size() : references.size());
  for_each_line(chosen.size(), [&](std::size_t i) {
    std::size_t words = 0;
    if (length != LengthOf::kSource) words = word_count(references[i], tokens);
    if (length != LengthOf::kReference) words = std::max(words, word_count(sources[i], tokens));
    chosen[i] = bucket_of(edges, words);
  });
  Buckets buckets;
  buckets.sentences.resize(edges.size() + 1);
  for (std::size_t b = 0; b <= edges.size(); ++b) buckets.labels.push_back(label_of(edges, b));
  for (std::size_t i = 0; i < chosen.size(); ++i) buckets.sentences[chosen[i]].push_back(i);
  return buckets;
}

Buckets by_unknown_share(std::span<const double> shares) {
  constexpr double kEdges[] = {0, 0.05, 0.1, 0.2};  // the largest share of each bucket; the last bucket has no limit
  Buckets buckets{{"none", "up to 5%", "5 to 10%", "10 to 20%", "over 20%"}, std::vector<std::vector<std::size_t>>(5)};
  for (std::size_t i = 0; i < shares.size(); ++i) buckets.sentences[bucket_of(kEdges, shares[i])].push_back(i);
  return buckets;
}

const std::vector<std::string>& frequency_labels() {
  static const std::vector<std::string> labels{"unknown", "1-9", "10-99", "100-999", "1000 and more"};
  return labels;
}

std::size_t frequency_bucket(std::uint64_t frequency) {
  std::size_t bucket = 0;  // the number of decimal digits of the frequency; 0 has none
  for (; frequency > 0 && bucket + 1 < frequency_labels().size(); frequency /= 10) ++bucket;
  return bucket;
}

Buckets by_frequency(std::span<const std::uint64_t> frequencies) {
  Buckets buckets{frequency_labels(), std::vector<std::vector<std::size_t>>(frequency_labels().size())};
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    if (frequencies[i] != kNoWord) buckets.sentences[frequency_bucket(frequencies[i])].push_back(i);
  }
  return buckets;
}

std::vector<WordAccuracy> word_accuracies(std::span<const std::string> hypotheses,
                                          std::span<const std::string> references, const WordFrequencies& frequencies) {
  assert(hypotheses.size() == references.size());
  std::vector<WordAccuracy> sums(frequency_labels().size());
  std::mutex mutex;
  for_each_line(hypotheses.size(), [&](std::size_t i) {
    auto ours = frequencies.words(hypotheses[i]), theirs = frequencies.words(references[i]);
    std::ranges::sort(ours);
    std::ranges::sort(theirs);
    std::vector<std::string> both;  // common words, each as often as on the side that has it less often
    std::ranges::set_intersection(ours, theirs, std::back_inserter(both));
    // The bucket of each word, and what counts it.
    std::vector<std::pair<std::size_t, std::uint64_t WordAccuracy::*>> found;
    const auto find = [&](const std::vector<std::string>& words, std::uint64_t WordAccuracy::*count) {
      for (const auto& word : words) found.emplace_back(frequency_bucket(frequencies.count(word)), count);
    };
    find(ours, &WordAccuracy::hypothesis);
    find(theirs, &WordAccuracy::words);
    find(both, &WordAccuracy::correct);
    const std::lock_guard lock(mutex);
    for (const auto& [bucket, count] : found) ++(sums[bucket].*count);
  });
  for (std::size_t b = 0; b < sums.size(); ++b) sums[b].label = frequency_labels()[b];
  return sums;
}

}  // namespace rnnsearch::evaluate

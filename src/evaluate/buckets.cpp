#include "rnnsearch/evaluate/buckets.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

#include "evaluate/fixed.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/random.h"
#include "rnnsearch/evaluate/chrf.h"
#include "rnnsearch/kernels/parallel.h"

namespace rnnsearch::evaluate {
namespace {

constexpr std::size_t kValues = 2 * kBleuOrders + 2;
using Values = std::array<std::uint32_t, kValues>;  // the statistics of one sentence

Values packed(const BleuStatistics& statistics) {
  Values values;
  for (std::size_t n = 0; n < kBleuOrders; ++n) {
    values[n] = static_cast<std::uint32_t>(statistics.correct[n]);
    values[kBleuOrders + n] = static_cast<std::uint32_t>(statistics.total[n]);
  }
  values[2 * kBleuOrders] = static_cast<std::uint32_t>(statistics.hypothesis_length);
  values[2 * kBleuOrders + 1] = static_cast<std::uint32_t>(statistics.reference_length);
  return values;
}

// Draws as many sentences as there are, with replacement. Counting the draws first, and reading the statistics in their
// order afterwards, is several times faster than reading them in the order of the draws.
double sample_score(const std::vector<Values>& sentences, Random random, const BleuOptions& options) {
  std::vector<std::uint32_t> drawn(sentences.size());
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    // A fraction of 64 bits times n: uneven by less than n / 2^64, and without the divisions of Random::below.
    using Wide = unsigned __int128;
    ++drawn[static_cast<std::size_t>(Wide{random.next()} * sentences.size() >> 64)];
  }
  std::array<std::uint64_t, kValues> sums{};
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const std::uint64_t times = drawn[i];
    for (std::size_t v = 0; v < kValues; ++v) sums[v] += times * sentences[i][v];
  }
  BleuStatistics statistics;
  std::copy_n(sums.begin(), kBleuOrders, statistics.correct.begin());
  std::copy_n(sums.begin() + kBleuOrders, kBleuOrders, statistics.total.begin());
  statistics.hypothesis_length = sums[2 * kBleuOrders];
  statistics.reference_length = sums[2 * kBleuOrders + 1];
  return bleu_of(statistics, options).score;
}

BucketScore score(std::string label, const std::vector<BleuStatistics>& statistics,
                  const std::vector<std::size_t>& sentences, const BleuOptions& options, const Bootstrap& bootstrap) {
  BucketScore result;
  result.label = std::move(label);
  result.sentences = sentences.size();
  BleuStatistics sum;
  for (const std::size_t i : sentences) sum += statistics[i];
  result.bleu = bleu_of(sum, options);
  if (sentences.empty() || bootstrap.samples == 0) return result;

  std::vector<Values> chosen;
  chosen.reserve(sentences.size());
  for (const std::size_t i : sentences) chosen.push_back(packed(statistics[i]));
  std::vector<double> scores(bootstrap.samples);
  kernels::parallel_for(scores.size(), [&](std::size_t sample) {
    scores[sample] = sample_score(chosen, Random(bootstrap.seed, sample), options);
  });
  std::sort(scores.begin(), scores.end());
  const std::size_t tail = scores.size() / 40;
  result.low = scores[tail];
  result.high = scores[scores.size() - 1 - tail];
  return result;
}

std::string label_of(const std::vector<std::size_t>& edges, std::size_t bucket) {
  if (edges.empty()) return "any";
  if (bucket == 0) return text_of("up to ", edges[0]);
  if (bucket == edges.size()) return text_of("over ", edges.back());
  const std::size_t first = edges[bucket - 1] + 1;
  return first == edges[bucket] ? text_of(first) : text_of(first, "-", edges[bucket]);
}

void check(const EvaluationInput& input, const BucketOptions& options) {
  const std::size_t lines = input.hypotheses.size();
  if (lines == 0) throw Error("evaluate: nothing to score: there are 0 hypotheses");
  if (options.length == LengthOf::kSource && input.sources.size() != lines) {
    throw Error(text_of("evaluate: ", lines, " hypotheses but ", input.sources.size(),
                        " source sentences; lengths of the source need one for each hypothesis"));
  }
  if (input.known != nullptr && input.known->size() != lines) {
    throw Error(text_of("evaluate: ", lines, " hypotheses but ", input.known->size(),
                        " marks of sentences without unknown words"));
  }
  for (std::size_t i = 1; i < options.edges.size(); ++i) {
    if (options.edges[i] > options.edges[i - 1]) continue;
    throw Error(text_of("evaluate: length buckets end at ", options.edges[i - 1], " and then at ", options.edges[i],
                        "; give ascending lengths, for instance 10,20,30"));
  }
}

Json to_json(const BucketScore& score) {
  const BleuStatistics& statistics = score.bleu.statistics;
  const auto list = [](const auto& values) {
    Json items = Json::array();
    for (const auto value : values) items.push_back(value);
    return items;
  };
  return Json::object({{"label", score.label},
                       {"sentences", score.sentences},
                       {"reliable", score.reliable()},
                       {"bleu", score.bleu.score},
                       {"low", score.low},
                       {"high", score.high},
                       {"precisions", list(score.bleu.precisions)},
                       {"brevity_penalty", score.bleu.brevity_penalty},
                       {"ratio", score.bleu.ratio},
                       {"correct", list(statistics.correct)},
                       {"total", list(statistics.total)},
                       {"hypothesis_length", statistics.hypothesis_length},
                       {"reference_length", statistics.reference_length}});
}

// Rows of a table: the buckets, all, without unknown words (null where a system lacks it).
std::vector<const BucketScore*> rows_of(const Evaluation& evaluation) {
  std::vector<const BucketScore*> rows;
  for (const BucketScore& bucket : evaluation.buckets) rows.push_back(&bucket);
  rows.push_back(&evaluation.all);
  rows.push_back(evaluation.without_unknown_words ? &*evaluation.without_unknown_words : nullptr);
  return rows;
}

std::size_t width_of(const std::string& text) {  // code points
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}
std::string left(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}
std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ') + text;
}

std::string cell_of(const BucketScore* score) {
  if (score == nullptr || score->sentences == 0) return "-";
  if (score->low == 0 && score->high == 0) return fixed(score->bleu.score, 2);
  char text[64];
  std::snprintf(text, sizeof text, "%.2f [%5.2f, %5.2f]", score->bleu.score, score->low, score->high);
  return text;
}

}  // namespace

LengthOf length_of(const std::string& name) {
  if (name == "reference") return LengthOf::kReference;
  if (name == "source") return LengthOf::kSource;
  throw Error("evaluate: there are no buckets by length of \"" + name + "\"; choose reference or source");
}

std::string name_of(LengthOf length) {
  return length == LengthOf::kReference ? "reference" : "source";
}

Evaluation evaluate_by_length(const EvaluationInput& input, const BleuOptions& bleu_options,
                              const BucketOptions& options) {
  check(input, options);
  const std::vector<BleuStatistics> statistics = corpus_statistics(input.hypotheses, input.references, bleu_options);
  const std::span<const std::string> measured =
      options.length == LengthOf::kReference ? std::span<const std::string>(input.references[0]) : input.sources;

  std::vector<std::size_t> bucket_of(measured.size());
  constexpr std::size_t kLinesPerPiece = 256;
  kernels::parallel_for((measured.size() + kLinesPerPiece - 1) / kLinesPerPiece, [&](std::size_t piece) {
    const std::size_t end = std::min(measured.size(), (piece + 1) * kLinesPerPiece);
    for (std::size_t i = piece * kLinesPerPiece; i < end; ++i) {
      const auto& edges = options.edges;
      const auto edge = std::lower_bound(edges.begin(), edges.end(), word_count(measured[i], bleu_options));
      bucket_of[i] = static_cast<std::size_t>(edge - edges.begin());
    }
  });
  std::vector<std::vector<std::size_t>> buckets(options.edges.size() + 1);
  std::vector<std::size_t> all(measured.size()), known;
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const std::size_t i : all) {
    buckets[bucket_of[i]].push_back(i);
    if (input.known != nullptr && (*input.known)[i]) known.push_back(i);
  }

  Evaluation evaluation;
  evaluation.system = input.system;
  evaluation.signature = signature(bleu_options, input.references.size(),
                                   options.bootstrap.samples > 0 ? std::optional(options.bootstrap) : std::nullopt);
  evaluation.length = options.length;
  const auto scored = [&](std::string label, const std::vector<std::size_t>& sentences) {
    return score(std::move(label), statistics, sentences, bleu_options, options.bootstrap);
  };
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    evaluation.buckets.push_back(scored(label_of(options.edges, b), buckets[b]));
  }
  evaluation.all = scored("all", all);
  if (input.known != nullptr) evaluation.without_unknown_words = scored("without unknown words", known);
  if (options.chrf) {
    const ChrfOptions characters{.lowercase = bleu_options.lowercase};
    const ChrfOptions words{.word_orders = kWordOrders, .lowercase = bleu_options.lowercase};
    ChrfStatistics sum;
    for (const auto& sentence : corpus_statistics(input.hypotheses, input.references, words)) sum += sentence;
    // Of several references each score chooses its own best one.
    const double chrf = input.references.size() == 1 ? chrf_of(sum, characters)
                                                     : corpus_chrf(input.hypotheses, input.references, characters);
    evaluation.others = {{"chrF", chrf, signature(characters, input.references.size())},
                         {"chrF++", chrf_of(sum, words), signature(words, input.references.size())}};
  }
  return evaluation;
}

std::string render_table(std::span<const Evaluation> systems) {
  if (systems.empty()) return {};
  std::vector<std::vector<const BucketScore*>> columns;
  for (const Evaluation& system : systems) columns.push_back(rows_of(system));
  const Evaluation& first = systems.front();
  std::vector<const BucketScore*> rows(columns.front().size());  // the first system that has the row
  for (std::size_t s = 0; s < systems.size(); ++s) {
    bool same = systems[s].signature == first.signature && systems[s].length == first.length &&
                columns[s].size() == rows.size() && systems[s].others.size() == first.others.size();
    for (std::size_t r = 0; same && r < rows.size(); ++r) {
      const BucketScore* score = columns[s][r];
      if (rows[r] == nullptr) rows[r] = score;
      same = score == nullptr || (score->label == rows[r]->label && score->sentences == rows[r]->sentences);
    }
    if (!same) {
      throw Error("evaluate: " + systems[s].system + " and " + first.system +
                  " were not scored on the same sentences with the same options, so they do not fit in one table");
    }
  }
  std::erase(rows, nullptr);

  const std::string heading = name_of(first.length) + " words";
  std::size_t label_width = heading.size();
  for (const BucketScore* row : rows) label_width = std::max(label_width, row->label.size());
  std::string header = left(heading, label_width) + "  sentences ";
  std::vector<std::size_t> widths;
  for (std::size_t s = 0; s < systems.size(); ++s) {
    std::size_t width = width_of(systems[s].system);
    for (const BucketScore* score : columns[s]) width = std::max(width, cell_of(score).size());
    widths.push_back(width);
    header += "  " + right(systems[s].system, width);
  }
  const std::string rule = std::string(width_of(header), '-') + "\n";
  std::string table = header + "\n" + rule;
  bool unreliable = false;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (r == first.buckets.size()) table += rule;
    const bool mark = !rows[r]->reliable() && rows[r]->sentences > 0;
    unreliable |= mark;
    table += left(rows[r]->label, label_width) + right(text_of(rows[r]->sentences), 11) + (mark ? "*" : " ");
    for (std::size_t s = 0; s < systems.size(); ++s) table += "  " + right(cell_of(columns[s][r]), widths[s]);
    table += "\n";
  }
  for (std::size_t k = 0; k < first.others.size(); ++k) {
    table += left(first.others[k].name, label_width) + right(text_of(first.all.sentences), 11) + " ";
    for (std::size_t s = 0; s < systems.size(); ++s) {
      table += "  " + right(fixed(systems[s].others[k].score, 2), widths[s]);
    }
    table += "\n";
  }
  if (unreliable) table += text_of("* fewer than ", kReliableSentences, " sentences: not to be trusted\n");
  table += "BLEU [95% bootstrap interval]  " + first.signature + "\n";
  for (const OtherScore& other : first.others) table += other.name + "  " + other.signature + "\n";
  return table;
}

Json to_json(const Evaluation& evaluation) {
  Json buckets = Json::array();
  for (const BucketScore& bucket : evaluation.buckets) buckets.push_back(to_json(bucket));
  Json json;
  json["system"] = evaluation.system;
  json["signature"] = evaluation.signature;
  json["length"] = name_of(evaluation.length);
  json["buckets"] = std::move(buckets);
  json["all"] = to_json(evaluation.all);
  json["without_unknown_words"] =
      evaluation.without_unknown_words ? to_json(*evaluation.without_unknown_words) : Json();
  for (const OtherScore& other : evaluation.others) {
    json[other.name] = Json::object({{"score", other.score}, {"signature", other.signature}});
  }
  return json;
}

}  // namespace rnnsearch::evaluate

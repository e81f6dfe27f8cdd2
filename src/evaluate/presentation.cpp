#include "rnnsearch/evaluate/presentation.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/version.h"

namespace rnnsearch::evaluate {
namespace {

/// The name of a system in a table.
std::string shown(const std::string& system) {
  constexpr std::size_t kLongest = 60;
  std::string name = printable(system);
  if (columns_of(name) > kLongest) name = cut(name, kLongest - 1) + "…";
  return name;
}

/// The rows under one heading.
struct Section {
  struct Row {
    std::string label;
    std::string count;
    bool unreliable = false;
    std::vector<std::string> cells;  // one for each system
  };
  std::string heading, counted;  // "reference words", "sentences"
  std::vector<Row> rows;
};

class Table {
 public:
  Table(const Evaluation& evaluation, bool details) : evaluation_(evaluation), details_(details) {
    Section lengths{heading(), "sentences", {}};
    for (std::size_t b = 0; b < first().buckets.size(); ++b) {
      lengths.rows.push_back(bleu_row([b](const SystemEvaluation& system) { return &system.buckets[b]; }));
    }
    sections_.push_back(std::move(lengths));
    Section whole{"", "", {}};
    whole.rows.push_back(bleu_row([](const SystemEvaluation& system) { return &system.all; }));
    if (first().without_unknown_words) {
      whole.rows.push_back(bleu_row([](const SystemEvaluation& system) { return &*system.without_unknown_words; }));
    }
    for (std::size_t m = 0; m < first().all.others.size(); ++m) whole.rows.push_back(other_row(m));
    sections_.push_back(std::move(whole));
    breakdown("unknown words in the pair", &SystemEvaluation::by_unknown_share);
    breakdown("rarest word of the reference", &SystemEvaluation::by_rarest_word);
    if (!first().words_by_frequency.empty()) words();
  }

  std::string text() const {
    std::size_t label_width = 0, count_width = 9;
    std::vector<std::size_t> widths;
    for (const SystemEvaluation& system : evaluation_.systems) widths.push_back(columns_of(shown(system.system)));
    for (const Section& section : sections_) {
      label_width = std::max(label_width, columns_of(section.heading));
      for (const Section::Row& row : section.rows) {
        label_width = std::max(label_width, columns_of(row.label));
        count_width = std::max(count_width, row.count.size());
        for (std::size_t s = 0; s < widths.size(); ++s) widths[s] = std::max(widths[s], columns_of(row.cells[s]));
      }
    }
    std::size_t all = label_width + 2 + count_width + 1;
    for (const std::size_t width : widths) all += 2 + width;
    const std::string rule = std::string(all, '-') + "\n";
    const auto trimmed = [](std::string line) {
      line.erase(line.find_last_not_of(' ') + 1);
      return line + "\n";
    };
    std::string table;
    bool unreliable = false;
    for (const Section& section : sections_) {
      if (!table.empty()) table += rule;
      if (!section.heading.empty()) {
        std::string header = left(section.heading, label_width) + "  " + right(section.counted, count_width) + " ";
        for (std::size_t s = 0; s < widths.size(); ++s) {
          header += "  " + right(table.empty() ? shown(evaluation_.systems[s].system) : "", widths[s]);
        }
        table += trimmed(header) + rule;
      }
      for (const Section::Row& row : section.rows) {
        unreliable |= row.unreliable;
        std::string line = left(row.label, label_width) + "  " + right(row.count, count_width);
        line += row.unreliable ? "*" : " ";
        for (std::size_t s = 0; s < widths.size(); ++s) line += "  " + right(row.cells[s], widths[s]);
        table += trimmed(line);
      }
    }
    return table + footer(unreliable);
  }

 private:
  const SystemEvaluation& first() const { return evaluation_.systems.front(); }
  bool tested() const { return evaluation_.significance.test != SignificanceTest::kNone; }

  std::string heading() const {
    if (evaluation_.length == LengthOf::kLongest) return "words of the longer side";
    return name_of(evaluation_.length) + " words";
  }

  const Comparison* comparison(const std::string& system, const std::string& metric, const std::string& row) const {
    for (const Comparison& comparison : evaluation_.comparisons) {
      if (comparison.system == system && comparison.metric == metric && comparison.row == row) return &comparison;
    }
    return nullptr;
  }

  template <class Score>
  static std::string interval(double score, const Score& of) {
    if (!of.low || !of.high) return fixed(score, 2);
    return fmt::format("{:.2f} [{:5.2f}, {:5.2f}]", score, *of.low, *of.high);
  }

  // The mark of significance and, with details, the p value; spaces of the same width if there was no comparison.
  std::string verdict(const Comparison* found) const {
    if (!tested()) return {};
    std::string text = found != nullptr && found->significant() ? "†" : " ";
    if (details_) text += left(found == nullptr ? "" : " p " + (found->p ? fixed(*found->p, 4) : "-"), 9);
    return text;
  }

  // compared: look up the comparison by the label of the row. Breakdowns have no comparisons, although their labels may
  // equal those of length buckets (10-99).
  template <class Get>
  Section::Row bleu_row(Get get, bool compared = true) const {
    const BucketScore& example = *get(first());
    Section::Row row{
        example.label, std::to_string(example.sentences), !example.reliable() && example.sentences > 0, {}};
    for (const SystemEvaluation& system : evaluation_.systems) {
      const BucketScore& score = *get(system);
      std::string cell = "-";
      if (score.sentences > 0) {
        cell = interval(score.bleu.score, score);
        if (details_) cell += "  ratio " + fixed(score.bleu.ratio, 3);
      }
      row.cells.push_back(cell + verdict(compared ? comparison(system.system, "BLEU", score.label) : nullptr));
    }
    return row;
  }

  Section::Row other_row(std::size_t metric) const {
    Section::Row row{
        first().all.others[metric].metric, std::to_string(first().all.sentences), !first().all.reliable(), {}};
    for (const SystemEvaluation& system : evaluation_.systems) {
      const MetricScore& score = system.all.others[metric];
      std::string cell = interval(score.score, score);
      if (details_) cell += std::string(13, ' ');  // as wide as the ratios above
      row.cells.push_back(cell + verdict(comparison(system.system, score.metric, "all")));
    }
    return row;
  }

  void breakdown(const std::string& title, std::vector<BucketScore> SystemEvaluation::*rows) {
    if ((first().*rows).empty()) return;
    Section section{title, "sentences", {}};
    for (std::size_t b = 0; b < (first().*rows).size(); ++b) {
      section.rows.push_back(bleu_row([&](const SystemEvaluation& system) { return &(system.*rows)[b]; }, false));
    }
    sections_.push_back(std::move(section));
  }

  void words() {
    Section section{"words by frequency, F1", "words", {}};
    for (std::size_t b = 0; b < first().words_by_frequency.size(); ++b) {
      const WordAccuracy& example = first().words_by_frequency[b];
      Section::Row row{example.label, std::to_string(example.words), false, {}};
      for (const SystemEvaluation& system : evaluation_.systems) {
        const WordAccuracy& accuracy = system.words_by_frequency[b];
        std::string cell = accuracy.words + accuracy.hypothesis == 0 ? "-" : fixed(100 * accuracy.f1(), 2);
        if (details_) {
          cell +=
              fmt::format(" (precision {:.2f}, recall {:.2f})", 100 * accuracy.precision(), 100 * accuracy.recall());
        }
        if (tested()) cell += " ";
        row.cells.push_back(std::move(cell));
      }
      section.rows.push_back(std::move(row));
    }
    sections_.push_back(std::move(section));
  }

  std::string footer(bool unreliable) const {
    std::string text;
    if (unreliable)
      text += fmt::format("* fewer than {} sentences: too few for a reliable score\n", kReliableSentences);
    if (tested()) {
      const SignificanceOptions& options = evaluation_.significance;
      text += fmt::format("† p < {:.2f} against {}: {}, each row of at least {} sentences by itself\n", kSignificant,
                          shown(evaluation_.baseline),
                          description_of(options.test, options.sample_count(), options.seed), kFewestTested);
    }
    if (!evaluation_.edges.empty()) {
      text += fmt::format("lengths counted by tok:{}\n", text::name_of(evaluation_.length_tokenizer));
    }
    const bool intervals = evaluation_.bootstrap.samples > 0;
    text += fmt::format("BLEU{}  {}\n", intervals ? " [95% bootstrap interval]" : "", first().signature);
    for (const auto& [metric, signature] : first().signatures) {
      text += fmt::format("{}{}  {}\n", metric, metric == "TER" ? " (lower is better)" : "", signature);
    }
    if (evaluation_.sequence_accuracy != SequenceAccuracyMode::kNone) {
      text += legend_of(evaluation_.sequence_accuracy) + "\n";
    }
    return text;
  }

  const Evaluation& evaluation_;
  bool details_;
  std::vector<Section> sections_;
};

/// null for what there is not.
Json json_of(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json to_json(const MetricScore& score, bool exists) {
  return Json::object(
      {{"score", exists ? Json(score.score) : Json()}, {"low", json_of(score.low)}, {"high", json_of(score.high)}});
}

Json to_json(const BucketScore& score) {
  const BleuStatistics& statistics = score.bleu.statistics;
  const bool exists = score.sentences > 0;
  const auto if_any = [&](Json value) { return exists ? std::move(value) : Json(); };
  Json json = Json::object({{"label", score.label},
                            {"sentences", score.sentences},
                            {"reliable", score.reliable()},
                            {"bleu", if_any(score.bleu.score)},
                            {"low", json_of(score.low)},
                            {"high", json_of(score.high)},
                            {"precisions", if_any(score.bleu.precisions)},
                            {"brevity_penalty", if_any(score.bleu.brevity_penalty)},
                            {"ratio", if_any(score.bleu.ratio)},
                            {"correct", statistics.correct},
                            {"total", statistics.total},
                            {"hypothesis_length", statistics.hypothesis_length},
                            {"reference_length", statistics.reference_length}});
  for (const MetricScore& other : score.others) json[other.metric] = to_json(other, exists);
  return json;
}

Json to_json(const std::vector<BucketScore>& scores) {
  Json list = Json::array();
  for (const BucketScore& score : scores) list.push_back(to_json(score));
  return list;
}

Json to_json(const SystemEvaluation& system) {
  Json json = Json::object(
      {{"system", system.system},
       {"signature", system.signature},
       {"all", to_json(system.all)},
       {"without_unknown_words", system.without_unknown_words ? to_json(*system.without_unknown_words) : Json()},
       {"buckets", to_json(system.buckets)}});
  const BucketScore* const best = best_bucket(system);
  json["best_bucket"] = best == nullptr ? Json() : Json(best->label);
  for (std::size_t b = 0; b < system.buckets.size(); ++b) {
    json["shares_of_best_bucket"].push_back(json_of(share_of_best(system, b)));
  }
  if (!system.by_unknown_share.empty()) json["by_unknown_share"] = to_json(system.by_unknown_share);
  if (!system.by_rarest_word.empty()) json["by_rarest_word"] = to_json(system.by_rarest_word);
  for (const WordAccuracy& accuracy : system.words_by_frequency) {
    json["words_by_frequency"].push_back(
        Json::object({{"label", accuracy.label},
                      {"words", accuracy.words},
                      {"hypothesis_words", accuracy.hypothesis},
                      {"correct", accuracy.correct},
                      {"precision", accuracy.hypothesis > 0 ? Json(accuracy.precision()) : Json()},
                      {"recall", accuracy.words > 0 ? Json(accuracy.recall()) : Json()},
                      {"f1", accuracy.words + accuracy.hypothesis > 0 ? Json(accuracy.f1()) : Json()}}));
  }
  for (std::size_t m = 0; m < system.all.others.size(); ++m) {
    const MetricScore& score = system.all.others[m];
    json[score.metric] = to_json(score, true);
    json[score.metric]["signature"] = system.signatures[m].second;
  }
  return json;
}

Json to_json(const SentenceEvaluation& sentence) {
  Json systems = Json::object();
  for (const auto& of_system : sentence.systems) {
    Json scores = Json::object({{"hypothesis", of_system.hypothesis}, {"bleu", of_system.bleu}});
    for (const MetricScore& other : of_system.others) scores[other.metric] = other.score;
    systems[of_system.system] = std::move(scores);
  }
  return Json::object({{"line", sentence.line},
                       {"source", sentence.source ? Json(*sentence.source) : Json()},
                       {"references", sentence.references},
                       {"bucket", sentence.bucket},
                       {"unknown_share", json_of(sentence.unknown_share)},
                       {"systems", std::move(systems)}});
}

}  // namespace

std::string render_table(const Evaluation& evaluation, bool details) {
  return Table(evaluation, details).text();
}

Json to_json(const Evaluation& evaluation) {
  const Bootstrap& bootstrap = evaluation.bootstrap;
  Json json = Json::object(
      {{"format", "rnnsearch-evaluation"},
       {"format_version", 1},
       {"created_by", kCreatedBy},
       {"set", evaluation.set.empty() ? Json() : Json(evaluation.set)},
       {"references", evaluation.references},
       {"length", name_of(evaluation.length)},
       {"length_tokenizer", text::name_of(evaluation.length_tokenizer)},
       {"edges", evaluation.edges},
       {"bootstrap",
        bootstrap.samples == 0 ? Json() : Json::object({{"samples", bootstrap.samples}, {"seed", bootstrap.seed}})},
       {"systems", Json::array()}});
  if (!evaluation.source_language.empty()) json["source_language"] = evaluation.source_language;
  if (!evaluation.target_language.empty()) json["target_language"] = evaluation.target_language;
  if (evaluation.sequence_accuracy != SequenceAccuracyMode::kNone) {
    json["sequence_accuracy"] = name_of(evaluation.sequence_accuracy);
  }
  for (const SystemEvaluation& system : evaluation.systems) json["systems"].push_back(to_json(system));
  for (const Comparison& comparison : evaluation.comparisons) {
    json["comparisons"].push_back(Json::object({{"method", name_of(comparison.test)},
                                                {"baseline", comparison.baseline},
                                                {"system", comparison.system},
                                                {"metric", comparison.metric},
                                                {"row", comparison.row},
                                                {"difference", comparison.difference},
                                                {"p", json_of(comparison.p)},
                                                {"samples", comparison.samples},
                                                {"seed", comparison.seed}}));
  }
  for (const SentenceEvaluation& sentence : evaluation.sentences) json["sentences"].push_back(to_json(sentence));
  return json;
}

}  // namespace rnnsearch::evaluate

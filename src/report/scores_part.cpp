#include "report/page_parts.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/html.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/evaluate/significance.h"
#include "rnnsearch/report/evaluation_tables.h"
#include "rnnsearch/report/table.h"

namespace rnnsearch::report {
namespace {

// The name of an evaluation in a heading, if there are several.
std::string name_of(const EvaluationFile& file) {
  return file.set.value_or(file.path.stem().string());
}

/// The suffix of ids: empty for the first evaluation, "-2" for the second.
std::string suffix_of(const Report& report, const EvaluationFile& file) {
  const auto i = &file - report.evaluations.data();
  return i == 0 ? "" : fmt::format("-{}", i + 1);
}

void add_breakdown(PageContext& page, pugi::xml_node section, const Report& report, const EvaluationFile& file,
                   const Breakdown& breakdown) {
  const auto& rows = file.systems.front().*breakdown.rows;
  const std::string title = prefix_of(report, file) + breakdown.title;
  LineChart chart{.title = title, .x = {.name = breakdown.axis}, .y = {.name = "BLEU", .from_zero = true}};
  chart.decimals = 2;
  chart.x.notes_name = "sentences";
  std::string note;
  if (file.bootstrap) {
    note = fmt::format("Bands and whiskers: 95% bootstrap intervals ({} samples). ", grouped(file.bootstrap->samples));
  }
  if (std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.sentences > 0 && !row.reliable(); })) {
    note += "Hollow marks: fewer than 100 sentences, too few for a reliable score.";
  }
  Table table = bucket_table(file, breakdown);
  table.caption = title + ", in numbers";
  page.pair(section, breakdown.id + suffix_of(report, file), chart, note, table);
}

void add_words_by_frequency(PageContext& page, pugi::xml_node section, const Report& report,
                            const EvaluationFile& file) {
  const std::string prefix = prefix_of(report, file);
  LineChart chart{.title = prefix + "F1 of words by their frequency in the training text",
                  .x = {.name = "times in the training text"},
                  .y = {.name = "F1, %", .from_zero = true}};
  chart.decimals = 1;
  chart.x.notes_name = "words";
  Table table = word_table(file);
  table.caption.insert(0, prefix);
  page.pair(section, "frequency" + suffix_of(report, file), chart, "", table);
}

using Rounds = std::vector<EvaluationFile>;

// Returns nothing if the round does not have this score.
std::optional<double> score_of(const EvaluationFile& round, const std::string& system, const std::string& metric) {
  for (const SystemEvaluation& scores : round.systems) {
    if (scores.system != system) continue;
    if (const auto score = evaluate::score_of(scores, metric)) return score->score;
  }
  return {};
}

std::vector<double> scores_of(const Rounds& rounds, const std::string& system, const std::string& metric) {
  std::vector<double> scores;
  for (const EvaluationFile& round : rounds) {
    if (const auto score = score_of(round, system, metric)) scores.push_back(*score);
  }
  return scores;
}

// The metrics that some round has. Those of sequence accuracy come first if they were requested.
std::vector<std::string> metrics_of(const Rounds& rounds) {
  std::vector<std::string> metrics;
  for (const EvaluationFile& round : rounds) {
    for (const std::string& metric : report::metrics_of(round)) add_once(metrics, metric);
  }
  std::stable_partition(metrics.begin(), metrics.end(), [](const std::string& metric) {
    return metric == "PSA" || metric == "LCSR" || metric == "GeoMean";
  });
  return metrics;
}

std::string with_half_width(const evaluate::RoundMean& mean) {
  if (!std::isfinite(mean.half_width)) return fixed(mean.mean, 2);
  return fmt::format("{} \u00b1 {}", fixed(mean.mean, 2), fixed(mean.half_width, 2));
}

Table mean_table(const Rounds& rounds) {
  Table table;
  table.caption = "Means over rounds";
  table.columns = {{"system", false}, {"rounds"}};
  const auto metrics = metrics_of(rounds);
  for (const std::string& metric : metrics) {
    table.columns.push_back({metric});
    table.columns.push_back({"least to most"});
  }
  for (const std::string& system : systems_of(rounds)) {
    std::vector<Cell> cells{{system}, {std::to_string(scores_of(rounds, system, "BLEU").size())}};
    for (const std::string& metric : metrics) {
      const auto scores = scores_of(rounds, system, metric);
      if (scores.empty()) {
        cells.insert(cells.end(), {{"\u2013"}, {"\u2013"}});
        continue;
      }
      const auto mean = evaluate::mean_over_rounds(scores);
      cells.push_back({with_half_width(mean)});
      cells.push_back({fmt::format("{} to {}", fixed(mean.least, 2), fixed(mean.most, 2))});
    }
    table.rows.push_back(std::move(cells));
  }
  table.notes.push_back(
      fmt::format("Each round is a separate training from new initial weights, scored on the same {} sentences. "
                  "\u00b1: half of the 95% confidence interval of the mean, Student's t over rounds.",
                  grouped(rounds.front().systems.front().all.sentences)));
  for (const EvaluationFile& round : rounds) {
    if (round.sequence_accuracy == evaluate::SequenceAccuracyMode::kNone) continue;
    table.notes.push_back(fmt::format("{}.", evaluate::legend_of(round.sequence_accuracy)));
    break;
  }
  return table;
}

Table metric_table(const Rounds& rounds, const std::string& metric) {
  Table table;
  table.caption = metric + " of each round";
  table.columns = {{"round", false}};
  const auto systems = systems_of(rounds);
  for (const std::string& system : systems) table.columns.push_back({system});
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    std::vector<Cell> cells{{std::to_string(i + 1)}};
    for (const std::string& system : systems) {
      const auto score = score_of(rounds[i], system, metric);
      cells.push_back({score ? fixed(*score, 2) : "\u2013"});
      if (score) cells.back().point = Point{0, *score};
    }
    table.rows.push_back(std::move(cells));
  }
  table.chart_rows = rounds.size();
  return table;
}

}  // namespace

std::string prefix_of(const Report& report, const EvaluationFile& file) {
  return report.evaluations.size() > 1 ? name_of(file) + ": " : "";
}

void add_lengths(PageContext& page, const Report& report) {
  pugi::xml_node section;
  for (const EvaluationFile& file : report.evaluations) {
    const auto breakdowns = breakdowns_of(file);
    if (file.systems.front().buckets.empty()) continue;
    if (!section) {
      section = page.section("length", "BLEU by sentence length");
      add(section, "p", {},
          "Does a system get worse as sentences grow? This is figure 2 of Bahdanau, Cho and Bengio (2015): the "
          "scores of a system that compresses each sentence into one vector fall with length; those of a system with "
          "attention should not.");
    }
    if (report.evaluations.size() > 1) add(section, "h3", {}, name_of(file));
    add_breakdown(page, section, report, file, breakdowns.front());
  }
}

void add_scores(PageContext& page, const Report& report) {
  if (report.evaluations.empty()) return;
  const auto section = page.section("scores", "Scores");
  for (const EvaluationFile& file : report.evaluations) {
    if (report.evaluations.size() > 1) add(section, "h3", {}, name_of(file));
    Table table = score_table(file);
    table.id = "table-scores" + suffix_of(report, file);
    table.caption = prefix_of(report, file) + "All sentences";
    add_table(section, table);
    std::size_t i = 0;
    const auto comparisons = comparison_tables(file);
    const auto pair = comparisons.empty() ? pugi::xml_node() : add(section, "div", {{"class", "pair"}});
    for (Table comparison : comparisons) {
      comparison.id = fmt::format("table-comparison{}-{}", suffix_of(report, file), ++i);
      comparison.caption = prefix_of(report, file) + comparison.caption;
      add_table(add(pair, "div"), comparison);
    }
  }
}

void add_words(PageContext& page, const Report& report) {
  pugi::xml_node section;
  const auto begun = [&] {
    if (!section) section = page.section("words", "Rare and unknown words");
    return section;
  };
  for (const EvaluationFile& file : report.evaluations) {
    if (!file.systems.front().words_by_frequency.empty()) add_words_by_frequency(page, begun(), report, file);
    for (const Breakdown& breakdown : breakdowns_of(file)) {
      if (breakdown.rows != &SystemEvaluation::buckets) add_breakdown(page, begun(), report, file, breakdown);
    }
  }
}

std::vector<std::string> systems_of(const Rounds& rounds) {
  std::vector<std::string> names;
  for (const EvaluationFile& round : rounds) {
    for (const SystemEvaluation& system : round.systems) add_once(names, system.system);
  }
  return names;
}

std::vector<Table> round_tables(const Rounds& rounds) {
  if (rounds.empty()) return {};
  std::vector<Table> tables{mean_table(rounds)};
  for (const std::string& metric : metrics_of(rounds)) tables.push_back(metric_table(rounds, metric));
  return tables;
}

void add_rounds(PageContext& page, const Report& report) {
  if (report.rounds.empty()) return;
  const auto section = page.section("rounds", "Rounds");
  Table means = mean_table(report.rounds);
  means.id = "table-rounds";
  add_table(section, means);
  std::size_t i = 0;
  for (const std::string& metric : metrics_of(report.rounds)) {
    const Table table = metric_table(report.rounds, metric);
    LineChart chart{.title = table.caption, .x = {.name = "round"}, .y = {.name = metric, .from_zero = true}};
    chart.decimals = 2;
    page.pair(section, fmt::format("rounds-{}", ++i), chart, "", table);
  }
}

}  // namespace rnnsearch::report

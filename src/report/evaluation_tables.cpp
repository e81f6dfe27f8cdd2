#include "rnnsearch/report/evaluation_tables.h"

#include <fmt/format.h>

#include <set>

#include "report/html.h"
#include "report/page_parts.h"

namespace rnnsearch::report {
namespace {

using evaluate::BucketScore;
using evaluate::Comparison;
using evaluate::Evaluation;
using evaluate::MetricScore;
using evaluate::SystemEvaluation;

constexpr double kHighlySignificant = 0.01;
constexpr const char *kNothing = "\u2013", *kDoubtful = "\u2020";

std::string stars(const Comparison* comparison) {
  return comparison == nullptr || !comparison->significant() ? "" : *comparison->p < kHighlySignificant ? "**" : "*";
}

std::string method_of(const Comparison& comparison) {
  return fmt::format("{}, two-sided, each row of at least {} sentences by itself",
                     evaluate::description_of(comparison.test, comparison.samples, comparison.seed),
                     evaluate::kFewestTested);
}

std::string p_text(const std::optional<double>& p) { return !p ? kNothing : *p < 0.001 ? "< 0.001" : fixed(*p, 3); }

std::string signed_text(double difference) {
  const std::string text = fixed(difference, 2);
  return difference > 0 ? fmt::format("+{}", text) : minus_sign(text);
}

Table table_of_systems(const Evaluation& evaluation, const std::string& caption, const std::string& heading,
                       const std::string& counted) {
  Table table{.caption = caption, .columns = {{heading, false}, {counted}}};
  for (const SystemEvaluation& system : evaluation.systems) table.columns.push_back({system.system});
  return table;
}

void add_row(Table& table, const Evaluation& evaluation, const std::string& label, std::uint64_t count,
             const auto& cell_of) {
  auto& cells = table.rows.emplace_back(std::vector<Cell>{{label}, {grouped(count)}});
  for (const SystemEvaluation& system : evaluation.systems) cells.push_back(cell_of(system));
}

/// row: the label of the comparisons with the baseline; empty: there are none.
Cell cell_of(const Evaluation& evaluation, const SystemEvaluation& system, const MetricScore& score,
             const std::string& row) {
  std::string text = fixed(score.score, 2);
  if (score.low && score.high) text += fmt::format(" [{}, {}]", fixed(*score.low, 2), fixed(*score.high, 2));
  return {text, stars(comparison_of(evaluation, system.system, score.metric, row))};
}

/// The BLEU of a row of a system; of nullptr, none.
Cell bleu_cell(const Evaluation& evaluation, const SystemEvaluation& system, const BucketScore* row, bool compared) {
  if (row == nullptr || row->sentences == 0) return {kNothing};
  const MetricScore score{"BLEU", row->bleu.score, row->low, row->high, {}};
  Cell cell = cell_of(evaluation, system, score, compared ? row->label : "");
  cell.doubtful = !row->reliable();
  if (cell.doubtful) cell.mark += kDoubtful;
  cell.point = Point{0, row->bleu.score, row->low, row->high, cell.doubtful};
  return cell;
}

/// Explains the marks in the table.
Table with_notes(Table table, const Evaluation& evaluation) {
  const auto any = [&](const auto& is) {
    return std::ranges::any_of(table.rows, [&](const auto& row) { return std::ranges::any_of(row, is); });
  };
  std::vector<std::string> notes;
  if (any([](const Cell& cell) { return cell.doubtful; })) {
    notes.push_back(fmt::format("{} fewer than {} sentences: too few for a reliable score", kDoubtful,
                                evaluate::kReliableSentences));
  }
  if (any([](const Cell& cell) { return cell.mark.starts_with('*'); })) {
    std::set<std::string> baselines;
    for (const Comparison& comparison : evaluation.comparisons) baselines.insert(comparison.baseline);
    notes.push_back(fmt::format("* differs from {} with p < {:.2f}, ** with p < {:.2f}: {}",
                                fmt::to_string(fmt::join(baselines, ", ")), evaluate::kSignificant, kHighlySignificant,
                                method_of(evaluation.comparisons.front())));
  }
  table.notes.insert(table.notes.begin(), notes.begin(), notes.end());
  return table;
}

}  // namespace

std::vector<Breakdown> breakdowns_of(const Evaluation& evaluation) {
  const bool longest = evaluation.length == evaluate::LengthOf::kLongest;
  const std::string side = name_of(evaluation.length);
  std::vector<Breakdown> breakdowns{
      {&SystemEvaluation::buckets, "length", "BLEU by sentence length",
       longest ? "words of the longer side" : side + " words",
       longest ? "words of the longer side, source or reference" : "words of the " + side},
      {&SystemEvaluation::by_unknown_share, "unknown", "BLEU by share of unknown words", "unknown words",
       "share of unknown words"},
      {&SystemEvaluation::by_rarest_word, "rarest", "BLEU by training frequency of the rarest word", "rarest word",
       "times in the training text"}};
  std::erase_if(breakdowns, [&](const Breakdown& one) { return (evaluation.systems.front().*one.rows).empty(); });
  return breakdowns;
}

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (std::ranges::find(list, item) == list.end()) list.push_back(item);
}

std::vector<std::string> metrics_of(const Evaluation& evaluation) {
  std::vector<std::string> metrics;
  for (const SystemEvaluation& system : evaluation.systems) {
    for (const MetricScore& score : scores_of(system)) add_once(metrics, score.metric);
  }
  return metrics;
}

Table bucket_table(const Evaluation& evaluation, const Breakdown& breakdown, bool details) {
  Table table = table_of_systems(evaluation, breakdown.title, breakdown.heading, "sentences");
  const bool by_length = breakdown.rows == &SystemEvaluation::buckets;
  const auto row = [&](const BucketScore& first, const auto& row_of, bool compared) {
    add_row(table, evaluation, first.label, first.sentences, [&](const SystemEvaluation& system) {
      const BucketScore* const scores = row_of(system);
      Cell cell = bleu_cell(evaluation, system, scores, compared);
      if (details && cell.point) cell.text += "  ratio " + fixed(scores->bleu.ratio, 3);
      return cell;
    });
  };
  const SystemEvaluation& first = evaluation.systems.front();
  const auto rows = breakdown.rows;
  for (std::size_t i = 0; i < (first.*rows).size(); ++i) {
    const auto row_of = [&](const auto& system) { return i < (system.*rows).size() ? &(system.*rows)[i] : nullptr; };
    row((first.*rows)[i], row_of, by_length);
  }
  table.chart_rows = table.rows.size();
  row(
      first.all, [](const auto& system) { return &system.all; }, true);
  if (by_length) table.notes.push_back("lengths counted by tok:" + name_of(evaluation.length_tokenizer));
  return with_notes(std::move(table), evaluation);
}

Table score_table(const Evaluation& evaluation) {
  Table table = table_of_systems(evaluation, "Scores", "score", "sentences");
  const auto& systems = evaluation.systems;
  const std::uint64_t sentences = systems.front().all.sentences;
  for (const SystemEvaluation& system : systems) {
    if (!system.model.empty()) table.notes.push_back(system.system + ": parameters " + system.model);
  }
  for (const std::string& metric : metrics_of(evaluation)) {
    const bool lower_is_better = metric == "TER";
    std::optional<double> best;
    for (const SystemEvaluation& system : systems) {
      const auto score = score_of(system, metric);
      if (score && (!best || (lower_is_better ? score->score < *best : score->score > *best))) best = score->score;
      if (score && !score->signature.empty()) add_once(table.notes, metric + ": " + score->signature);
    }
    add_row(table, evaluation, lower_is_better ? metric + " (lower is better)" : metric, sentences,
            [&](const SystemEvaluation& system) -> Cell {
              const auto score = score_of(system, metric);
              if (!score) return {kNothing};
              Cell cell = metric == "BLEU" ? bleu_cell(evaluation, system, &system.all, true)
                                           : cell_of(evaluation, system, *score, "all");
              cell.strong = systems.size() > 1 && score->score == *best;
              return cell;
            });
    if (metric != "BLEU") continue;
    const auto known =
        std::ranges::find_if(systems, [](const auto& system) { return system.without_unknown_words.has_value(); });
    if (known != systems.end()) {
      add_row(table, evaluation, "BLEU without unknown words", known->without_unknown_words->sentences,
              [&](const SystemEvaluation& system) {
                const auto& row = system.without_unknown_words;
                return bleu_cell(evaluation, system, row ? &*row : nullptr, true);
              });
    }
    add_row(table, evaluation, "length ratio", sentences,
            [](const SystemEvaluation& system) { return Cell{fixed(system.all.bleu.ratio, 3)}; });
  }
  if (evaluation.bootstrap) table.notes.insert(table.notes.begin(), "in brackets: 95% bootstrap intervals");
  if (evaluation.sequence_accuracy != evaluate::SequenceAccuracyMode::kNone)
    table.notes.push_back(evaluate::legend_of(evaluation.sequence_accuracy));
  return with_notes(std::move(table), evaluation);
}

Table word_table(const Evaluation& evaluation) {
  Table table = table_of_systems(evaluation, "Precision / recall / F1 of words, %", "times in training text", "words");
  const auto& rows = evaluation.systems.front().words_by_frequency;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    add_row(table, evaluation, rows[i].label, rows[i].words, [&](const SystemEvaluation& system) {
      Cell cell{kNothing};
      if (i >= system.words_by_frequency.size()) return cell;
      const evaluate::WordAccuracy& row = system.words_by_frequency[i];
      if (row.words + row.hypothesis == 0) return cell;
      cell.text = fmt::format("{} / {} / {}", fixed(100 * row.precision(), 1), fixed(100 * row.recall(), 1),
                              fixed(100 * row.f1(), 1));
      cell.point = Point{0, 100 * row.f1()};
      return cell;
    });
  }
  table.chart_rows = rows.size();
  return table;
}

std::vector<Table> comparison_tables(const Evaluation& evaluation) {
  std::vector<std::vector<Comparison>> pairs;  // those of the same test, baseline and system
  for (const Comparison& comparison : evaluation.comparisons) {
    auto pair = std::ranges::find_if(pairs, [&](const auto& of_pair) {
      const Comparison& head = of_pair.front();
      return head.test == comparison.test && head.baseline == comparison.baseline && head.system == comparison.system;
    });
    if (pair == pairs.end()) pair = pairs.insert(pairs.end(), std::vector<Comparison>());
    pair->push_back(comparison);
  }
  std::vector<Table> tables;
  for (const auto& pair : pairs) {
    Table table{.caption = fmt::format("Difference: {} minus {}", pair.front().system, pair.front().baseline),
                .columns = {{"sentences", false}}};
    std::vector<std::string> metrics, rows;
    for (const Comparison& comparison : pair) {
      add_once(metrics, comparison.metric);
      add_once(rows, comparison.row);
    }
    for (const std::string& metric : metrics) {
      table.columns.push_back({metric + " difference"});
      table.columns.push_back({"p"});
    }
    for (const std::string& row : rows) {
      auto& cells = table.rows.emplace_back(std::vector<Cell>{{row}});
      for (const std::string& metric : metrics) {
        const auto found =
            std::ranges::find_if(pair, [&](const auto& c) { return c.metric == metric && c.row == row; });
        const bool there = found != pair.end();
        cells.push_back(there ? Cell{signed_text(found->difference), stars(&*found), found->significant()}
                              : Cell{kNothing});
        cells.push_back({there ? p_text(found->p) : kNothing});
      }
    }
    table.notes.push_back(fmt::format("* p < {:.2f}, ** p < {:.2f}: {}", evaluate::kSignificant, kHighlySignificant,
                                      method_of(pair.front())));
    tables.push_back(std::move(table));
  }
  return tables;
}

std::string evaluation_text(const Evaluation& evaluation, bool details) {
  std::vector<Table> tables;
  for (const Breakdown& breakdown : breakdowns_of(evaluation))
    tables.push_back(bucket_table(evaluation, breakdown, details));
  tables.insert(tables.begin() + (tables.empty() ? 0 : 1), score_table(evaluation));
  if (!evaluation.systems.front().words_by_frequency.empty()) tables.push_back(word_table(evaluation));
  if (details) {
    for (Table& table : comparison_tables(evaluation)) tables.push_back(std::move(table));
  }
  return terminal_text(tables);
}

namespace {

// The name of an evaluation in a heading, if there are several.
std::string set_name(const EvaluationFile& file) { return file.set.value_or(file.path.stem().string()); }

/// The suffix of ids: empty for the first evaluation, "-2" for the second.
std::string suffix_of(const Report& report, const EvaluationFile& file) {
  const auto i = &file - report.evaluations.data();
  return i == 0 ? "" : fmt::format("-{}", i + 1);
}

void add_breakdown(PageContext& page, pugi::xml_node section, const Report& report, const EvaluationFile& file,
                   const Breakdown& breakdown) {
  const auto& rows = file.systems.front().*breakdown.rows;
  const std::string title = prefix_of(report, file) + breakdown.title;
  const LineChart chart{.title = title,
                        .x = {.name = breakdown.axis, .notes_name = "sentences"},
                        .y = {.name = "BLEU", .from_zero = true},
                        .decimals = 2};
  std::string note;
  if (file.bootstrap)
    note = fmt::format("Bands and whiskers: 95% bootstrap intervals ({} samples). ", grouped(file.bootstrap->samples));
  if (std::ranges::any_of(rows, [](const auto& row) { return row.sentences > 0 && !row.reliable(); }))
    note += "Hollow marks: fewer than 100 sentences, too few for a reliable score.";
  Table table = bucket_table(file, breakdown);
  table.caption = title + ", in numbers";
  page.pair(section, breakdown.id + suffix_of(report, file), chart, note, table);
}

void add_words_by_frequency(PageContext& page, pugi::xml_node section, const Report& report,
                            const EvaluationFile& file) {
  const std::string prefix = prefix_of(report, file);
  const LineChart chart{.title = prefix + "F1 of words by their frequency in the training text",
                        .x = {.name = "times in the training text", .notes_name = "words"},
                        .y = {.name = "F1, %", .from_zero = true},
                        .decimals = 1};
  Table table = word_table(file);
  table.caption.insert(0, prefix);
  page.pair(section, "frequency" + suffix_of(report, file), chart, "", table);
}

using Rounds = std::vector<EvaluationFile>;

// Returns nothing if the round does not have this score.
std::optional<double> score_of(const EvaluationFile& round, const std::string& system, const std::string& metric) {
  const auto found = std::ranges::find(round.systems, system, &SystemEvaluation::system);
  const auto score = found == round.systems.end() ? std::nullopt : evaluate::score_of(*found, metric);
  return score ? std::optional(score->score) : std::nullopt;
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
  Table table{.caption = "Means over rounds", .columns = {{"system", false}, {"rounds"}}};
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
  Table table{.caption = metric + " of each round", .columns = {{"round", false}}};
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
  return report.evaluations.size() > 1 ? set_name(file) + ": " : "";
}

void add_lengths(PageContext& page, const Report& report) {
  pugi::xml_node section;
  for (const EvaluationFile& file : report.evaluations) {
    const auto breakdowns = breakdowns_of(file);
    if (file.systems.front().buckets.empty()) continue;
    if (!section) {
      section = page.section("length", "BLEU by sentence length");
      add(section, "p", {},
          "Does a system get worse as sentences grow? This is figure 2 of Bahdanau, Cho and Bengio (2015): the scores "
          "of a system that compresses each sentence into one vector fall with length; those of a system with "
          "attention should not.");
    }
    if (report.evaluations.size() > 1) add(section, "h3", {}, set_name(file));
    add_breakdown(page, section, report, file, breakdowns.front());
  }
}

void add_scores(PageContext& page, const Report& report) {
  if (report.evaluations.empty()) return;
  const auto section = page.section("scores", "Scores");
  for (const EvaluationFile& file : report.evaluations) {
    if (report.evaluations.size() > 1) add(section, "h3", {}, set_name(file));
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
    const LineChart chart{
        .title = table.caption, .x = {.name = "round"}, .y = {.name = metric, .from_zero = true}, .decimals = 2};
    page.pair(section, fmt::format("rounds-{}", ++i), chart, "", table);
  }
}

}  // namespace rnnsearch::report

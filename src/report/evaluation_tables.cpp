#include "rnnsearch/report/evaluation_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rnnsearch/base/error.h"
#include "rnnsearch/report/table.h"

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

std::string p_text(const std::optional<double>& p) {
  return !p ? kNothing : *p < 0.001 ? "< 0.001" : fixed(*p, 3);
}

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
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [&](const auto& row) { return std::any_of(row.begin(), row.end(), is); });
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
  const std::string side = evaluate::name_of(evaluation.length);
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
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
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
  if (by_length) {
    table.notes.push_back("lengths counted by tok:" + text::name_of(evaluation.length_tokenizer));
  }
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
    const auto known = std::find_if(systems.begin(), systems.end(),
                                    [](const auto& system) { return system.without_unknown_words.has_value(); });
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
  if (evaluation.sequence_accuracy != evaluate::SequenceAccuracyMode::kNone) {
    table.notes.push_back(evaluate::legend_of(evaluation.sequence_accuracy));
  }
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
    auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const auto& of_pair) {
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
            std::find_if(pair.begin(), pair.end(), [&](const auto& c) { return c.metric == metric && c.row == row; });
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
  for (const Breakdown& breakdown : breakdowns_of(evaluation)) {
    tables.push_back(bucket_table(evaluation, breakdown, details));
  }
  tables.insert(tables.begin() + (tables.empty() ? 0 : 1), score_table(evaluation));
  if (!evaluation.systems.front().words_by_frequency.empty()) tables.push_back(word_table(evaluation));
  if (details) {
    for (Table& table : comparison_tables(evaluation)) tables.push_back(std::move(table));
  }
  return terminal_text(tables);
}

}  // namespace rnnsearch::report

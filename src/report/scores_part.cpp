#include "report/scores_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/html.h"
#include "report/numbers.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::report {
namespace {

using evaluate::Comparison;

constexpr double kHighlySignificant = 0.01;
constexpr const char *kNothing = "\u2013", *kDoubtful = "\u2020";

// The name of an evaluation in a heading, if there are several.
std::string name_of(const EvaluationFile& file) {
  return file.set.value_or(file.path.stem().string());
}

Table table_of_systems(const EvaluationFile& file, const std::string& heading, const std::string& counted) {
  Table table{.columns = {{heading, false}, {counted}}};
  for (const SystemEvaluation& system : file.systems) table.columns.push_back({system.system});
  return table;
}

bool any_cell(const Table& table, const auto& is) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const auto& row) { return std::any_of(row.begin(), row.end(), is); });
}

bool is_doubtful(const Cell& cell) {
  return cell.doubtful;
}

bool is_starred(const Cell& cell) {
  return cell.mark.starts_with('*');
}

// A value with its interval, such as "21.34 [19.90, 22.61]".
std::string with_interval(const MetricScore& score) {
  if (!score.low || !score.high) return fixed(score.score, 2);
  return fmt::format("{} [{}, {}]", fixed(score.score, 2), fixed(*score.low, 2), fixed(*score.high, 2));
}

// The BLEU of a row.
Cell cell_of(const BucketScore* row) {
  if (row == nullptr || row->sentences == 0) return {kNothing};
  const std::string text = with_interval({"BLEU", row->bleu.score, row->low, row->high, {}});
  const Point point{0, row->bleu.score, row->low, row->high, !row->reliable()};
  return {text, row->reliable() ? "" : kDoubtful, false, !row->reliable(), point};
}

std::string stars(const Comparison& comparison) {
  return !comparison.significant() ? "" : *comparison.p < kHighlySignificant ? "**" : "*";
}

// The stars of a system against its first baseline over all sentences.
std::string stars_of(const EvaluationFile& file, const std::string& system, const std::string& metric) {
  const Comparison* const comparison = comparison_of(file, system, metric, "all");
  return comparison == nullptr ? "" : stars(*comparison);
}

std::string p_text(const std::optional<double>& p) {
  return !p ? kNothing : *p < 0.001 ? "< 0.001" : fixed(*p, 3);
}

std::string method_text(const Comparison& comparison) {
  return evaluate::description_of(comparison.test, comparison.samples, comparison.seed);
}

std::string signed_text(double difference) {
  const std::string text = fixed(difference, 2);
  return difference > 0 ? fmt::format("+{}", text) : minus_sign(text);
}

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

struct Breakdown {
  std::vector<BucketScore> SystemEvaluation::*rows;
  std::string id, title, axis, heading;
};

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
  Table table = bucket_table(file, breakdown.rows, breakdown.heading);
  table.caption = title + ", in numbers";
  page.pair(section, breakdown.id + suffix_of(report, file), chart, note, table);
}

void add_words_by_frequency(PageContext& page, pugi::xml_node section, const Report& report,
                            const EvaluationFile& file) {
  const auto& rows = file.systems.front().words_by_frequency;
  const std::string prefix = prefix_of(report, file);
  LineChart chart{.title = prefix + "F1 of words by their frequency in the training text",
                  .x = {.name = "times in the training text"},
                  .y = {.name = "F1, %", .from_zero = true}};
  chart.decimals = 1;
  chart.x.notes_name = "words";
  Table table = table_of_systems(file, "times in training text", "words");
  table.caption = prefix + "Precision / recall / F1 of words, %";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto& cells = table.rows.emplace_back(std::vector<Cell>{{rows[i].label}, {grouped(rows[i].words)}});
    for (const SystemEvaluation& system : file.systems) {
      Cell& cell = cells.emplace_back(Cell{kNothing});
      if (i >= system.words_by_frequency.size() || system.words_by_frequency[i].words == 0) continue;
      const evaluate::WordAccuracy& row = system.words_by_frequency[i];
      cell.text = fmt::format("{} / {} / {}", fixed(100 * row.precision(), 1), fixed(100 * row.recall(), 1),
                              fixed(100 * row.f1(), 1));
      cell.point = Point{0, 100 * row.f1()};
    }
  }
  table.chart_rows = rows.size();
  page.pair(section, "frequency" + suffix_of(report, file), chart, "", table);
}

}  // namespace

std::string prefix_of(const Report& report, const EvaluationFile& file) {
  return report.evaluations.size() > 1 ? name_of(file) + ": " : "";
}

std::string suffix_of(const Report& report, const EvaluationFile& file) {
  const auto i = &file - report.evaluations.data();
  return i == 0 ? "" : fmt::format("-{}", i + 1);
}

std::string length_heading(const EvaluationFile& file) {
  return file.length == evaluate::LengthOf::kLongest ? "words" : evaluate::name_of(file.length) + " words";
}

Table bucket_table(const EvaluationFile& file, std::vector<BucketScore> SystemEvaluation::*rows,
                   const std::string& heading) {
  Table table = table_of_systems(file, heading, "sentences");
  const auto add_row = [&](const BucketScore& first, const auto& row_of) {
    auto& cells = table.rows.emplace_back(std::vector<Cell>{{first.label}, {grouped(first.sentences)}});
    for (const SystemEvaluation& system : file.systems) cells.push_back(cell_of(row_of(system)));
  };
  const SystemEvaluation& first = file.systems.front();
  for (std::size_t i = 0; i < (first.*rows).size(); ++i) {
    add_row((first.*rows)[i],
            [&](const auto& system) { return i < (system.*rows).size() ? &(system.*rows)[i] : nullptr; });
  }
  table.chart_rows = table.rows.size();
  add_row(first.all, [](const auto& system) { return &system.all; });
  if (any_cell(table, is_doubtful)) {
    table.notes.push_back("\u2020 fewer than 100 sentences: too few for a reliable score");
  }
  return table;
}

Table score_table(const EvaluationFile& file) {
  const auto& systems = file.systems;
  Table table{.columns = {{"system", false}, {"BLEU"}}};
  std::uint64_t without_unknown_words = 0;
  bool known = false;
  double best = 0;
  for (const SystemEvaluation& system : systems) {
    best = std::max(best, system.all.bleu.score);
    if (!system.without_unknown_words) continue;
    known = true;
    without_unknown_words = std::max(without_unknown_words, system.without_unknown_words->sentences);
  }
  if (known) table.columns.push_back({"BLEU without unknown words"});
  table.columns.push_back({"length ratio"});
  std::vector<std::string> metrics;
  for (const std::string metric : evaluate::kOtherMetrics) {
    if (std::none_of(systems.begin(), systems.end(), [&](const auto& system) { return score_of(system, metric); })) {
      continue;
    }
    metrics.push_back(metric);
    table.columns.push_back({metric == "TER" ? "TER (lower is better)" : metric});
  }
  std::vector<std::string> signatures;
  for (const SystemEvaluation& system : systems) {
    auto& cells = table.rows.emplace_back(std::vector<Cell>{{system.system}, cell_of(&system.all)});
    cells.back().mark.insert(0, stars_of(file, system.system, "BLEU"));
    cells.back().strong = systems.size() > 1 && system.all.bleu.score == best;
    if (known) cells.push_back(cell_of(system.without_unknown_words ? &*system.without_unknown_words : nullptr));
    cells.push_back({fixed(system.all.bleu.ratio, 3)});
    for (const std::string& metric : metrics) {
      const auto score = score_of(system, metric);
      cells.push_back(score ? Cell{with_interval(*score), stars_of(file, system.system, metric)} : Cell{kNothing});
    }
    for (const MetricScore& score : evaluate::scores_of(system)) {
      if (!score.signature.empty()) add_once(signatures, score.metric + ": " + score.signature);
    }
  }
  std::string note = fmt::format("{} sentences", grouped(systems.front().all.sentences));
  if (known) note += fmt::format(", {} of them without unknown words", grouped(without_unknown_words));
  note += ".";
  if (file.bootstrap) note += " In brackets: 95% bootstrap intervals.";
  if (any_cell(table, is_doubtful)) note += " \u2020 Fewer than 100 sentences: too few for a reliable score.";
  table.notes.push_back(note);
  if (any_cell(table, is_starred)) {
    std::set<std::string> baselines;
    for (const Comparison& comparison : file.comparisons) baselines.insert(comparison.baseline);
    table.notes.push_back(fmt::format("* differs from {} with p < 0.05, ** with p < 0.01 ({}).",
                                      fmt::to_string(fmt::join(baselines, ", ")),
                                      method_text(file.comparisons.front())));
  }
  table.notes.insert(table.notes.end(), signatures.begin(), signatures.end());
  return table;
}

std::vector<Table> comparison_tables(const EvaluationFile& file) {
  std::vector<std::vector<Comparison>> pairs;  // those of the same test, baseline and system
  for (const Comparison& comparison : file.comparisons) {
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
        cells.push_back(there ? Cell{signed_text(found->difference), stars(*found), found->significant()}
                              : Cell{kNothing});
        cells.push_back({there ? p_text(found->p) : kNothing});
      }
    }
    table.notes.push_back(fmt::format("* p < 0.05, ** p < 0.01; {}, two-sided. Each row is tested separately.",
                                      method_text(pair.front())));
    tables.push_back(std::move(table));
  }
  return tables;
}

void add_lengths(PageContext& page, const Report& report) {
  pugi::xml_node section;
  for (const EvaluationFile& file : report.evaluations) {
    if (file.systems.front().buckets.empty()) continue;
    if (!section) {
      section = page.section("length", "BLEU by sentence length");
      add(section, "p", {},
          "Does a system get worse as sentences grow? This is figure 2 of Bahdanau, Cho and Bengio (2015): the "
          "scores of a system that compresses each sentence into one vector fall with length; those of a system with "
          "attention should not.");
    }
    if (report.evaluations.size() > 1) add(section, "h3", {}, name_of(file));
    const std::string axis = file.length == evaluate::LengthOf::kLongest
                                 ? "words of the longer side, source or reference"
                                 : "words of the " + evaluate::name_of(file.length);
    add_breakdown(page, section, report, file,
                  {&SystemEvaluation::buckets, "length", "BLEU by sentence length", axis, length_heading(file)});
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
  const Breakdown breakdowns[] = {
      {&SystemEvaluation::by_unknown_share, "unknown", "BLEU by share of unknown words", "share of unknown words",
       "unknown words"},
      {&SystemEvaluation::by_rarest_word, "rarest", "BLEU by training frequency of the rarest word",
       "times in the training text", "rarest word"}};
  pugi::xml_node section;
  const auto begun = [&] {
    if (!section) section = page.section("words", "Rare and unknown words");
    return section;
  };
  for (const EvaluationFile& file : report.evaluations) {
    const SystemEvaluation& first = file.systems.front();
    if (!first.words_by_frequency.empty()) add_words_by_frequency(page, begun(), report, file);
    for (const Breakdown& breakdown : breakdowns) {
      if (!(first.*breakdown.rows).empty()) add_breakdown(page, begun(), report, file, breakdown);
    }
  }
}

}  // namespace rnnsearch::report

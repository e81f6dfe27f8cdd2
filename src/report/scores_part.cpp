#include "report/scores_part.h"

#include <algorithm>
#include <set>

#include "report/html.h"
#include "report/numbers.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::report {
namespace {

constexpr double kHighlySignificant = 0.01;

// The name of an evaluation in a heading, if there are several.
std::string name_of(const EvaluationFile& file) {
  return file.set ? *file.set : file.path.stem().string();
}

std::string words_of(const EvaluationFile& file) {
  return file.length == "longest" ? "words of the longer side, source or reference" : "words of the " + file.length;
}

// Shortens a label for the axis: "11-20" gets an en dash, and words are replaced by signs.
std::string short_label(const std::string& label) {
  if (label.starts_with("up to ")) return "\u2264" + label.substr(6);
  if (label.starts_with("over ")) return ">" + label.substr(5);
  if (label.ends_with(" and more")) return "\u2265" + label.substr(0, label.size() - 9);
  std::string result = label;
  const auto dash = result.find('-');
  if (dash != std::string::npos) result.replace(dash, 1, "\u2013");
  return result;
}

LineChart bucket_chart(PageContext& page, const EvaluationFile& file, std::vector<ScoreRow> SystemScores::*rows,
                       const std::string& title, const std::string& axis) {
  LineChart chart{.title = title, .x = {.name = axis}, .y = {.name = "BLEU", .from_zero = true}};
  chart.decimals = 2;
  chart.x.notes_name = "sentences";
  for (const ScoreRow& row : file.systems.front().*rows) {
    chart.x.labels.push_back(short_label(row.label));
    chart.x.notes.push_back(grouped(row.sentences));
  }
  for (const SystemScores& system : file.systems) {
    Line line{.name = system.system, .style = page.styles.of(system.system)};
    for (std::size_t i = 0; i < (system.*rows).size() && i < chart.x.labels.size(); ++i) {
      const ScoreRow& row = (system.*rows)[i];
      if (row.sentences == 0) continue;
      line.points.push_back({static_cast<double>(i), row.bleu, row.low, row.high, !row.reliable});
    }
    if (!line.points.empty()) chart.lines.push_back(std::move(line));
  }
  return chart;
}

bool has_intervals(const EvaluationFile& file) {
  return file.bootstrap_samples.has_value();
}

std::string about_points(const EvaluationFile& file, std::vector<ScoreRow> SystemScores::*rows) {
  std::string text;
  if (has_intervals(file)) {
    text = fmt::format("Bands and whiskers: 95% bootstrap intervals ({} samples). ", grouped(*file.bootstrap_samples));
  }
  const auto& first = file.systems.front().*rows;
  const bool few =
      std::any_of(first.begin(), first.end(), [](const ScoreRow& row) { return row.sentences > 0 && !row.reliable; });
  return text + (few ? "Hollow marks: fewer than 100 sentences, too few for a reliable score." : "");
}

// The comparison of a system with its first baseline over all sentences.
const evaluate::Comparison* comparison_of(const EvaluationFile& file, const std::string& system,
                                          const std::string& metric) {
  for (const evaluate::Comparison& comparison : file.comparisons) {
    if (comparison.system == system && comparison.metric == metric && comparison.row == "all") return &comparison;
  }
  return nullptr;
}

std::string stars(const evaluate::Comparison& comparison) {
  return !comparison.significant() ? "" : *comparison.p < kHighlySignificant ? "**" : "*";
}

std::string mark_of(const EvaluationFile& file, const std::string& system, const std::string& metric) {
  const evaluate::Comparison* comparison = comparison_of(file, system, metric);
  return comparison == nullptr ? "" : stars(*comparison);
}

std::string p_text(const std::optional<double>& p) {
  return !p ? "\u2013" : *p < 0.001 ? "< 0.001" : fixed(*p, 3);
}

std::string method_text(const evaluate::Comparison& comparison) {
  return evaluate::description_of(comparison.test, comparison.samples, comparison.seed);
}

std::string signed_text(double difference) {
  const std::string text = fixed(difference, 2);
  return difference > 0 ? fmt::format("+{}", text) : minus_sign(text);
}

}  // namespace

std::string with_interval(double value, const std::optional<double>& low, const std::optional<double>& high) {
  if (!low || !high) return fixed(value, 2);
  return fmt::format("{} [{}, {}]", fixed(value, 2), fixed(*low, 2), fixed(*high, 2));
}

std::string prefix_of(const Report& report, const EvaluationFile& file) {
  return report.evaluations.size() > 1 ? name_of(file) + ": " : "";
}

std::string suffix_of(const Report& report, const EvaluationFile& file) {
  const auto i = &file - report.evaluations.data();
  return i == 0 ? "" : fmt::format("-{}", i + 1);
}

Table bucket_table(const EvaluationFile& file, std::vector<ScoreRow> SystemScores::*rows, const std::string& heading) {
  Table table;
  table.columns = {{heading, false}, {"sentences"}};
  for (const SystemScores& system : file.systems) table.columns.push_back({system.system});
  bool doubtful = false;
  const auto add_row = [&](const auto& row_of) {
    const ScoreRow* first = nullptr;
    for (const SystemScores& system : file.systems) {
      if (first == nullptr) first = row_of(system);
    }
    if (first == nullptr) return;
    std::vector<Cell> cells{{first->label}, {grouped(first->sentences)}};
    for (const SystemScores& system : file.systems) {
      const ScoreRow* row = row_of(system);
      if (row == nullptr || row->sentences == 0) {
        cells.push_back({"\u2013"});
        continue;
      }
      const bool doubt = !row->reliable;
      doubtful |= doubt;
      cells.push_back({with_interval(row->bleu, row->low, row->high), doubt ? "\u2020" : "", false, doubt});
    }
    table.rows.push_back(std::move(cells));
  };
  std::size_t most = 0;
  for (const SystemScores& system : file.systems) most = std::max(most, (system.*rows).size());
  for (std::size_t i = 0; i < most; ++i) {
    add_row([&](const SystemScores& system) { return i < (system.*rows).size() ? &(system.*rows)[i] : nullptr; });
  }
  add_row([](const SystemScores& system) { return &system.all; });
  if (doubtful) table.notes.push_back("\u2020 fewer than 100 sentences: too few for a reliable score");
  return table;
}

Table score_table(const EvaluationFile& file) {
  Table table;
  table.columns = {{"system", false}, {"BLEU"}};
  const bool known = std::any_of(file.systems.begin(), file.systems.end(),
                                 [](const SystemScores& system) { return system.without_unknown_words.has_value(); });
  if (known) table.columns.push_back({"BLEU without unknown words"});
  table.columns.push_back({"length ratio"});
  std::vector<std::string> metrics;
  for (const char* metric : kOtherMetrics) {
    for (const SystemScores& system : file.systems) {
      const bool has = std::any_of(system.others.begin(), system.others.end(),
                                   [&](const OtherScore& other) { return other.metric == metric; });
      if (has && (metrics.empty() || metrics.back() != metric)) metrics.emplace_back(metric);
    }
  }
  for (const std::string& metric : metrics)
    table.columns.push_back({metric == "TER" ? "TER (lower is better)" : metric});
  double best = 0;
  for (const SystemScores& system : file.systems) best = std::max(best, system.all.bleu);
  bool marked = false, doubtful = false;
  const auto mark = [&](const SystemScores& system, const std::string& metric) {
    const std::string text = mark_of(file, system.system, metric);
    marked |= !text.empty();
    return text;
  };
  for (const SystemScores& system : file.systems) {
    const bool few = !system.all.reliable;
    doubtful |= few;
    std::vector<Cell> cells{{system.system},
                            {with_interval(system.all.bleu, system.all.low, system.all.high),
                             fmt::format("{}{}", mark(system, "BLEU"), few ? "\u2020" : ""),
                             file.systems.size() > 1 && system.all.bleu == best, few}};
    if (known) {
      const auto& row = system.without_unknown_words;
      const bool doubt = row && row->sentences > 0 && !row->reliable;
      doubtful |= doubt;
      cells.push_back(row && row->sentences > 0
                          ? Cell{with_interval(row->bleu, row->low, row->high), doubt ? "\u2020" : "", false, doubt}
                          : Cell{"\u2013"});
    }
    cells.push_back({system.all.ratio ? fixed(*system.all.ratio, 3) : "\u2013"});
    for (const std::string& metric : metrics) {
      const auto other = std::find_if(system.others.begin(), system.others.end(),
                                      [&](const OtherScore& score) { return score.metric == metric; });
      cells.push_back(other == system.others.end()
                          ? Cell{"\u2013"}
                          : Cell{with_interval(other->score, other->low, other->high), mark(system, metric)});
    }
    table.rows.push_back(std::move(cells));
  }
  std::string note = fmt::format("{} sentences", grouped(file.systems.front().all.sentences));
  if (known) {
    std::uint64_t sentences = 0;
    for (const SystemScores& system : file.systems) {
      if (system.without_unknown_words) sentences = std::max(sentences, system.without_unknown_words->sentences);
    }
    note += fmt::format(", {} of them without unknown words", grouped(sentences));
  }
  note += ".";
  if (has_intervals(file)) note += " In brackets: 95% bootstrap intervals.";
  if (doubtful) note += " \u2020 Fewer than 100 sentences: too few for a reliable score.";
  table.notes.push_back(note);
  if (marked) {
    std::set<std::string> baselines;
    for (const evaluate::Comparison& comparison : file.comparisons) baselines.insert(comparison.baseline);
    std::string names;
    for (const std::string& name : baselines) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    table.notes.push_back(fmt::format("* differs from {} with p < 0.05, ** with p < 0.01 ({}).", names,
                                      method_text(file.comparisons.front())));
  }
  std::vector<std::string> signatures;
  const auto sign = [&](const std::string& metric, const std::string& signature) {
    const std::string text = metric + ": " + signature;
    if (!signature.empty() && std::find(signatures.begin(), signatures.end(), text) == signatures.end()) {
      signatures.push_back(text);
    }
  };
  for (const SystemScores& system : file.systems) {
    sign("BLEU", system.signature);
    for (const OtherScore& other : system.others) sign(other.metric, other.signature);
  }
  table.notes.insert(table.notes.end(), signatures.begin(), signatures.end());
  return table;
}

std::vector<Table> comparison_tables(const EvaluationFile& file) {
  // One table for each pair of systems and method, with a row for each group of sentences and two columns for each
  // metric.
  const auto same_table = [](const evaluate::Comparison& a, const evaluate::Comparison& b) {
    return a.test == b.test && a.baseline == b.baseline && a.system == b.system;
  };
  std::vector<evaluate::Comparison> heads;
  for (const evaluate::Comparison& comparison : file.comparisons) {
    const auto known = std::find_if(heads.begin(), heads.end(),
                                    [&](const evaluate::Comparison& head) { return same_table(head, comparison); });
    if (known == heads.end()) heads.push_back(comparison);
  }
  std::vector<Table> tables;
  for (const evaluate::Comparison& head : heads) {
    Table table;
    table.caption = fmt::format("Difference: {} minus {}", head.system, head.baseline);
    table.columns = {{"sentences", false}};
    std::vector<std::string> metrics, rows;
    const auto note = [](std::vector<std::string>& list, const std::string& item) {
      if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
    };
    for (const evaluate::Comparison& comparison : file.comparisons) {
      if (!same_table(head, comparison)) continue;
      note(metrics, comparison.metric);
      note(rows, comparison.row);
    }
    for (const std::string& metric : metrics) {
      table.columns.push_back({metric + " difference"});
      table.columns.push_back({"p"});
    }
    for (const std::string& row : rows) {
      std::vector<Cell> cells{{row}};
      for (const std::string& metric : metrics) {
        const auto found = std::find_if(
            file.comparisons.begin(), file.comparisons.end(),
            [&](const evaluate::Comparison& c) { return same_table(head, c) && c.metric == metric && c.row == row; });
        if (found == file.comparisons.end()) {
          cells.insert(cells.end(), {{"\u2013"}, {"\u2013"}});
        } else {
          cells.push_back({signed_text(found->difference), stars(*found), found->significant()});
          cells.push_back({p_text(found->p)});
        }
      }
      table.rows.push_back(std::move(cells));
    }
    table.notes.push_back(
        fmt::format("* p < 0.05, ** p < 0.01; {}, two-sided. Each row is tested separately.", method_text(head)));
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
    const std::string id = "length" + suffix_of(report, file);
    if (report.evaluations.size() > 1) add(section, "h3", {}, name_of(file));
    const auto pair = add(section, "div", {{"class", "pair"}});
    auto chart = bucket_chart(page, file, &SystemScores::buckets, prefix_of(report, file) + "BLEU by sentence length",
                              words_of(file));
    page.chart(pair, "chart-" + id, chart, about_points(file, &SystemScores::buckets));
    Table table =
        bucket_table(file, &SystemScores::buckets, file.length == "longest" ? "words" : file.length + " words");
    table.id = "table-" + id;
    table.caption = prefix_of(report, file) + "BLEU by sentence length, in numbers";
    add_table(add(pair, "div"), table);
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
  const auto begin = [&] {
    if (!section) section = page.section("words", "Rare and unknown words");
  };
  for (const EvaluationFile& file : report.evaluations) {
    const std::string suffix = suffix_of(report, file), prefix = prefix_of(report, file);
    if (const auto words = word_table(file)) {
      begin();
      LineChart chart{.title = prefix + "F1 of words by their frequency in the training text",
                      .x = {.name = "times in the training text"},
                      .y = {.name = "F1, %", .from_zero = true}};
      chart.decimals = 1;
      chart.x.notes_name = "words";
      for (const evaluate::WordAccuracy& row : file.systems.front().words_by_frequency) {
        chart.x.labels.push_back(short_label(row.label));
        chart.x.notes.push_back(grouped(row.words));
      }
      for (const SystemScores& system : file.systems) {
        Line line{.name = system.system, .style = page.styles.of(system.system)};
        for (std::size_t i = 0; i < system.words_by_frequency.size() && i < chart.x.labels.size(); ++i) {
          const evaluate::WordAccuracy& row = system.words_by_frequency[i];
          if (row.words > 0) line.points.push_back({static_cast<double>(i), 100 * row.f1()});
        }
        chart.lines.push_back(std::move(line));
      }
      const auto pair = add(section, "div", {{"class", "pair"}});
      page.chart(pair, "chart-frequency" + suffix, chart);
      Table table = *words;
      table.id = "table-frequency" + suffix;
      table.caption = prefix + "Precision / recall / F1 of words, %";
      add_table(add(pair, "div"), table);
    }
    struct Kind {
      std::vector<ScoreRow> SystemScores::*rows;
      const char *id, *title, *heading, *axis;
    };
    for (const Kind& kind :
         {Kind{&SystemScores::by_unknown_share, "unknown", "BLEU by share of unknown words", "unknown words",
               "share of unknown words"},
          Kind{&SystemScores::by_rarest_word, "rarest", "BLEU by training frequency of the rarest word", "rarest word",
               "times in the training text"}}) {
      const bool there = std::any_of(file.systems.begin(), file.systems.end(),
                                     [&](const SystemScores& system) { return !(system.*kind.rows).empty(); });
      if (!there || (file.systems.front().*kind.rows).empty()) continue;
      begin();
      const auto pair = add(section, "div", {{"class", "pair"}});
      page.chart(pair, fmt::format("chart-{}{}", kind.id, suffix),
                 bucket_chart(page, file, kind.rows, prefix + kind.title, kind.axis), about_points(file, kind.rows));
      Table table = bucket_table(file, kind.rows, kind.heading);
      table.id = fmt::format("table-{}{}", kind.id, suffix);
      table.caption = fmt::format("{}{}, in numbers", prefix, kind.title);
      add_table(add(pair, "div"), table);
    }
  }
}

std::optional<Table> word_table(const EvaluationFile& file) {
  const auto& first = file.systems.front().words_by_frequency;
  if (first.empty()) return {};
  Table table;
  table.columns = {{"times in training text", false}, {"words"}};
  for (const SystemScores& system : file.systems) table.columns.push_back({system.system});
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::vector<Cell> cells{{first[i].label}, {grouped(first[i].words)}};
    for (const SystemScores& system : file.systems) {
      if (i >= system.words_by_frequency.size() || system.words_by_frequency[i].words == 0) {
        cells.push_back({"\u2013"});
        continue;
      }
      const evaluate::WordAccuracy& row = system.words_by_frequency[i];
      cells.push_back({fmt::format("{} / {} / {}", fixed(100 * row.precision(), 1), fixed(100 * row.recall(), 1),
                                   fixed(100 * row.f1(), 1))});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace rnnsearch::report

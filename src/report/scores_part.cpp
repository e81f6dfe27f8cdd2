#include "report/scores_part.h"

#include <algorithm>

#include "report/html.h"
#include "report/numbers.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/report/evaluation_tables.h"

namespace rnnsearch::report {
namespace {

// The name of an evaluation in a heading, if there are several.
std::string name_of(const EvaluationFile& file) {
  return file.set.value_or(file.path.stem().string());
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

}  // namespace

std::string prefix_of(const Report& report, const EvaluationFile& file) {
  return report.evaluations.size() > 1 ? name_of(file) + ": " : "";
}

std::string suffix_of(const Report& report, const EvaluationFile& file) {
  const auto i = &file - report.evaluations.data();
  return i == 0 ? "" : fmt::format("-{}", i + 1);
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

}  // namespace rnnsearch::report

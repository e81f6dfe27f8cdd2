#include "rnnsearch/report/page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "report/html.h"
#include "report/page_parts.h"
#include "rnnsearch/report/evaluation_tables.h"

namespace rnnsearch::report {
namespace {

// Shortens a label for the axis: "11-20" gets an en dash, and words are replaced by signs.
std::string short_label(const std::string& label) {
  if (label.starts_with("up to ")) return fmt::format("\u2264{}", label.substr(6));
  if (label.starts_with("over ")) return fmt::format(">{}", label.substr(5));
  if (label.ends_with(" and more")) return fmt::format("\u2265{}", label.substr(0, label.size() - 9));
  std::string result = label;
  const auto dash = result.find('-');
  if (dash != std::string::npos) result.replace(dash, 1, "\u2013");
  return result;
}

// Converts hexadecimal digits to base 64 (RFC 4648), in which a Content-Security-Policy writes a hash.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  std::uint32_t bits = 0, count = 0;
  for (const char digit : hex) {
    bits = bits << 4 | static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    count += 4;
    if (count < 6) continue;
    count -= 6;
    result += kDigits[bits >> count & 63];
  }
  if (count > 0) result += kDigits[bits << (6 - count) & 63];
  while (result.size() % 4 != 0) result += '=';
  return result;
}

std::string joined(std::vector<std::string> names) {
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : fmt::to_string(fmt::join(names, ", ")) + " and " + last;
}

// A paragraph that summarises the content of the page.
std::string summary_of(const Report& report) {
  std::string text;
  for (const EvaluationFile& file : report.evaluations) {
    std::vector<std::string> names;
    for (const SystemEvaluation& system : file.systems) names.push_back(system.system);
    const std::uint64_t sentences = file.systems.front().all.sentences;
    text += fmt::format("Scores of {} on {} sentences{}. ", joined(names), grouped(sentences),
                        file.set ? fmt::format(" of {}", *file.set) : std::string());
  }
  if (!report.rounds.empty()) {
    text +=
        fmt::format("Scores of {} in {}. ", joined(systems_of(report.rounds)), counted(report.rounds.size(), "round"));
  }
  std::vector<std::string> names;
  std::size_t open = 0;
  for (const Run& run : report.runs) {
    names.push_back(run.name);
    if (!run.stopped) ++open;
  }
  if (!names.empty()) {
    text += fmt::format("{}{}", names.size() == 1 ? "The training of " : "The trainings of ", joined(names));
    if (open > 0 && open == names.size()) {
      text += names.size() == 1 ? ", which has not ended" : ", which have not ended";
    } else if (open > 0) {
      text += fmt::format(", {} of which {} not ended", open, open == 1 ? "has" : "have");
    }
    text += ". ";
  }
  std::size_t aligned = 0;
  for (const AlignmentFile& file : report.alignments) aligned += file.sentences.size();
  if (aligned > 0)
    text += fmt::format("Soft alignments of {}{}", grouped(aligned), aligned == 1 ? " sentence. " : " sentences. ");
  if (!text.empty()) text.pop_back();
  return text;
}

// A number has enough digits to be read back exactly; it is empty if it is not finite, as is an unknown value.
Cell cell_of(const auto& value) {
  if constexpr (requires { value.has_value(); }) {
    return value ? cell_of(*value) : Cell{};
  } else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
    return {value};
  } else {
    const std::string text = json_text(Json(value));
    return {text == "null" ? "" : text};
  }
}
std::vector<Cell> row_of(const auto&... values) { return {cell_of(values)...}; }
Table columns_of(std::initializer_list<const char*> titles) {
  Table table;
  for (const char* title : titles) table.columns.push_back({title});
  return table;
}
void keep(std::vector<CsvFile>& files, const char* name, const Table& table) {
  if (!table.rows.empty()) files.push_back({name, csv_of(table)});
}

void add_score_csv(const Report& report, std::vector<CsvFile>& files) {
  Table scores = columns_of(
      {"set", "system", "sentences_of", "row", "sentences", "reliable", "bleu", "low", "high", "length_ratio"});
  Table others = columns_of({"set", "system", "metric", "score", "low", "high", "signature"});
  Table words = columns_of({"set", "system", "times_in_training_text", "words", "precision", "recall", "f1"});
  Table comparisons =
      columns_of({"set", "method", "baseline", "system", "metric", "row", "difference", "p", "samples", "seed"});
  for (const EvaluationFile& file : report.evaluations) {
    const std::string set = file.set.value_or(file.path.stem().string());
    for (const SystemEvaluation& system : file.systems) {
      const auto add_row = [&](const std::string& kind, const BucketScore& row) {
        const auto if_any = [&](double value) { return row.sentences > 0 ? std::optional(value) : std::nullopt; };
        scores.rows.push_back(row_of(set, system.system, kind, row.label, row.sentences, row.reliable(),
                                     if_any(row.bleu.score), row.low, row.high, if_any(row.bleu.ratio)));
      };
      add_row("all", system.all);
      if (system.without_unknown_words) add_row("all", *system.without_unknown_words);
      for (const BucketScore& row : system.buckets) add_row("length", row);
      for (const BucketScore& row : system.by_unknown_share) add_row("unknown_share", row);
      for (const BucketScore& row : system.by_rarest_word) add_row("rarest_word", row);
      for (const MetricScore& s : evaluate::scores_of(system))
        others.rows.push_back(row_of(set, system.system, s.metric, s.score, s.low, s.high, s.signature));
      for (const evaluate::WordAccuracy& row : system.words_by_frequency)
        words.rows.push_back(row_of(set, system.system, row.label, row.words, row.precision(), row.recall(), row.f1()));
    }
    for (const evaluate::Comparison& c : file.comparisons) {
      comparisons.rows.push_back(
          row_of(set, name_of(c.test), c.baseline, c.system, c.metric, c.row, c.difference, c.p, c.samples, c.seed));
    }
  }
  keep(files, "bleu.csv", scores);
  keep(files, "metrics.csv", others);
  keep(files, "comparisons.csv", comparisons);
  keep(files, "words-by-frequency.csv", words);
  Table rounds = columns_of({"round", "file", "system", "metric", "score"});
  for (std::size_t i = 0; i < report.rounds.size(); ++i) {
    const EvaluationFile& round = report.rounds[i];
    for (const SystemEvaluation& system : round.systems) {
      for (const MetricScore& score : evaluate::scores_of(system))
        rounds.rows.push_back(row_of(i + 1, round.path.string(), system.system, score.metric, score.score));
    }
  }
  keep(files, "rounds.csv", rounds);
}

void add_training_csv(const Report& report, std::vector<CsvFile>& files) {
  Table updates = columns_of({"run", "update", "elapsed_seconds", "epochs", "loss_per_word", "gradient_norm",
                              "learning_rate", "source_words_per_second", "target_words_per_second", "seconds",
                              "compute_seconds", "optimizer_seconds", "communication_seconds", "data_seconds"});
  Table validations = columns_of({"run", "update", "elapsed_seconds", "loss_per_word", "bleu", "best"});
  Table configuration = columns_of({"run", "setting", "value"});
  for (const Run& run : report.runs) {
    for (const LoggedUpdate& u : run.updates) {
      updates.rows.push_back(row_of(run.name, u.update, u.elapsed_seconds, u.epochs(), u.loss_per_word, u.gradient_norm,
                                    u.learning_rate, u.source_words_per_second, u.target_words_per_second, u.seconds,
                                    u.compute_seconds, u.optimizer_seconds, u.communication_seconds, u.data_seconds));
    }
    for (const LoggedValidation& v : run.validations)
      validations.rows.push_back(row_of(run.name, v.update, v.elapsed_seconds, v.loss_per_word, v.bleu, v.best));
    for (const auto& [name, value] : run.config) configuration.rows.push_back(row_of(run.name, name, value));
  }
  keep(files, "training.csv", updates);
  keep(files, "validation.csv", validations);
  keep(files, "configuration.csv", configuration);
}

}  // namespace

pugi::xml_node PageContext::section(const std::string& id, const std::string& title) {
  const auto node = add(main, "section", {{"id", id}, {"aria-labelledby", "heading-" + id}});
  add(node, "h2", {{"id", "heading-" + id}}, title);
  contents.emplace_back(id, title);
  return node;
}

void PageContext::chart(pugi::xml_node where, const std::string& id, const LineChart& chart, const std::string& note) {
  const auto figure = add(where, "figure", {{"class", "chart"}, {"id", id}});
  add(figure, "figcaption", {}, chart.title);
  const auto legend = add(figure, "ul", {{"class", "legend"}});
  for (const Line& line : chart.lines) {
    if (line.faint) continue;
    const auto item = add(legend, "li", {{"data-name", line.name}});
    add_key(item, line.style);
    add(item, "span", {{"class", "name"}}, line.name);
  }
  const auto plot = add(figure, "div", {{"class", "plot"}});
  add_chart(plot, chart);
  if (!note.empty()) add(figure, "p", {{"class", "note"}}, note);
}

pugi::xml_node PageContext::side(pugi::xml_node sides, const std::string& title, const std::string& language,
                                 bool system, const std::string& score) {
  const auto side = add(sides, "div", {{"class", "side"}});
  const auto heading = add(side, "h5");
  if (system) add_key(heading, style_of(title));
  add_text(heading, (system ? " " : "") + title + (score.empty() ? "" : " "));
  if (!score.empty()) add(heading, "span", {{"class", "score"}}, score);
  const auto line = add(side, "p", {{"class", "words"}, {"dir", "auto"}});
  if (!language.empty()) set(line, "lang", language);
  return line;
}

void PageContext::pair(pugi::xml_node where, const std::string& id, LineChart chart, const std::string& note,
                       Table table) {
  for (std::size_t row = 0; row < table.chart_rows; ++row) {
    chart.x.labels.push_back(short_label(table.rows[row][0].text));
    if (!chart.x.notes_name.empty()) chart.x.notes.push_back(table.rows[row][1].text);
  }
  for (std::size_t column = chart.x.notes_name.empty() ? 1 : 2; column < table.columns.size(); ++column) {
    Line line{.name = table.columns[column].title, .style = style_of(table.columns[column].title)};
    for (std::size_t row = 0; row < table.chart_rows; ++row) {
      const auto& point = table.rows[row][column].point;
      if (!point) continue;
      line.points.push_back(*point);
      line.points.back().x = static_cast<double>(row);
    }
    if (!line.points.empty()) chart.lines.push_back(std::move(line));
  }
  const auto both = add(where, "div", {{"class", "pair"}});
  this->chart(both, "chart-" + id, chart, note);
  table.id = "table-" + id;
  add_table(add(both, "div"), table);
}

std::string html_page(const Report& report) {
  pugi::xml_document document;
  const auto body = add(document, "body");
  const auto top = add(body, "header");
  add(top, "h1", {}, report.title);
  add(top, "p", {{"class", "lead"}}, summary_of(report));
  PageContext page{.main = add(body, "main")};
  add_sections(page, report, false);
  add_lengths(page, report);
  add_scores(page, report);
  add_rounds(page, report);
  add_training(page, report);
  add_alignments(page, report);
  add_sections(page, report, true);
  add_sentences(page, report);
  add_words(page, report);
  add_record(page, report);
  const auto list = add(add(top, "nav", {{"aria-label", "Contents"}}), "ul");
  for (const auto& [id, title] : page.contents) add(add(list, "li"), "a", {{"href", "#" + id}}, title);
  add(add(body, "footer"), "p", {}, "Made by rnnsearch report.");

  pugi::xml_document head;
  const Asset style = page_style(), script = page_script();
  add(head, "meta", {{"charset", "utf-8"}});
  add(head, "meta",
      {{"http-equiv", "Content-Security-Policy"},
       {"content", "default-src 'none'; style-src 'sha256-" + base64_of_hex(style.sha256) + "'; script-src 'sha256-" +
                       base64_of_hex(script.sha256) + "'; base-uri 'none'; form-action 'none'"}});
  add(head, "meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  add(head, "meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  if (report.refresh_seconds > 0)
    add(head, "meta", {{"http-equiv", "refresh"}, {"content", std::to_string(report.refresh_seconds)}});
  add(head, "title", {}, report.title);
  // Style and script are raw text in HTML. They are our own files, and pugixml would escape them, which is not allowed.
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head>{}<style>{}</style></head>\n{}<script>{}</script></html>\n",
      html_of(head), style.text, html_of(document), script.text);
}

std::string markdown_tables(const Report& report) {
  std::string text;
  const auto write = [&](Table table, const std::string& caption) {
    table.caption = caption;
    if (!text.empty()) text += '\n';
    text += markdown_of(table);
  };
  for (const SectionFile& section : report.sections) {
    for (const Table& table : section.tables) write(table, table.caption);
  }
  for (const EvaluationFile& file : report.evaluations) {
    const std::string prefix = prefix_of(report, file);
    for (const Breakdown& breakdown : breakdowns_of(file)) {
      if (breakdown.rows == &SystemEvaluation::buckets) write(bucket_table(file, breakdown), prefix + breakdown.title);
    }
    write(score_table(file), prefix + "scores");
    for (const Table& table : comparison_tables(file)) write(table, prefix + table.caption);
  }
  for (const Table& table : round_tables(report.rounds)) write(table, table.caption);
  return text;
}

std::vector<CsvFile> csv_files(const Report& report) {
  std::vector<CsvFile> files;
  for (std::size_t i = 0; i < report.sections.size(); ++i) {
    std::size_t number = 0;
    for (const Table& table : report.sections[i].tables)
      files.push_back({fmt::format("section-{}-table-{}.csv", i + 1, ++number), csv_of(table)});
  }
  add_score_csv(report, files);
  add_training_csv(report, files);
  return files;
}

}  // namespace rnnsearch::report

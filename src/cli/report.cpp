#include "cli/commands.h"

#include <algorithm>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/report/chart_file.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

struct Settings {
  std::vector<std::string> run, evaluation, alignment, round, section;
  std::optional<std::string> title;
  fs::path output, csv, markdown;
  fs::path chart, svg;
  std::string chart_of;
};

// NAME=RUN, or RUN alone: then its name without folders.
report::Run named_run(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::error_code ignored;  // a name may be longer than a file's
  if (equals != std::string::npos && equals > 0 && text.find('/') >= equals && !fs::exists(text, ignored)) {
    return report::read_run(text.substr(equals + 1), text.substr(0, equals));
  }
  fs::path path = fs::path(text).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return report::read_run(path, path.filename().string());
}

report::Report read_all(const Settings& settings) {
  report::Report report;
  for (const std::string& text : settings.run) {
    report::Run run = named_run(text);
    for (const report::Run& other : report.runs) {
      if (other.name != run.name) continue;
      throw UsageError(text_of("the runs ", other.path.string(), " and ", run.path.string(), " would both be called ",
                               run.name, "; give one another name: --run NAME=", run.path.string()));
    }
    report.runs.push_back(std::move(run));
  }
  std::vector<report::EvaluationFile> evaluations;
  for (const std::string& path : settings.evaluation) evaluations.push_back(report::read_evaluation(path));
  report.evaluations = report::merged(std::move(evaluations));
  for (const std::string& path : settings.alignment) report.alignments.push_back(report::read_alignment(path));
  for (const std::string& path : settings.round) report.rounds.push_back(report::read_evaluation(path));
  report::check_same_test(report.rounds);
  for (const std::string& path : settings.section) report.sections.push_back(report::read_section(path));
  report.title = settings.title.value_or("Translation report");
  return report;
}

// Returns whether that was all there was to do.
bool write_chart(const Settings& settings) {
  if (settings.chart.empty() != settings.svg.empty()) {
    throw UsageError("--chart and --svg go together: a table of numbers, and the picture to make of it");
  }
  if (!settings.svg.empty()) {
    report::LineChart chart = report::read_chart(settings.chart);
    chart.title = settings.title.value_or(settings.chart.stem().string());
    chart.y = {.name = settings.chart_of, .from_zero = true};
    write_file_atomically(settings.svg, report::svg_file_of(chart));
    if (settings.output.empty()) {
      if (!settings.run.empty() || !settings.evaluation.empty() || !settings.alignment.empty() ||
          !settings.round.empty() || !settings.section.empty() || !settings.csv.empty() || !settings.markdown.empty()) {
        throw UsageError(
            "these options describe a page, and --output is missing: give --output FILE.html, or only --chart "
            "and --svg");
      }
      return true;
    }
  }
  if (settings.output.empty())
    throw UsageError("there is nothing to write: give --output FILE.html, or --chart and --svg");
  return false;
}

void check(const Settings& settings) {
  if (settings.run.empty() && settings.evaluation.empty() && settings.alignment.empty() && settings.round.empty() &&
      settings.section.empty()) {
    throw UsageError(
        "nothing to report: give --run RUN, --evaluation or --round FILE (of evaluate --json), --alignment FILE (of "
        "align --json) or --section FILE");
  }
  if (!settings.markdown.empty() && settings.evaluation.empty() && settings.round.empty() && settings.section.empty()) {
    throw UsageError("--markdown writes tables, and there are none: give --evaluation, --round or --section FILE");
  }
  std::error_code ignored;
  if (fs::is_directory(settings.output, ignored)) {
    throw Error(text_of("--output ", settings.output.string(), " is a folder; name the file to write in it"));
  }
  if (!settings.csv.empty() && fs::exists(settings.csv, ignored) && !fs::is_directory(settings.csv, ignored)) {
    throw Error(text_of("--csv ", settings.csv.string(), " is a file; it names a folder"));
  }
}

}  // namespace

int run_report(const Arguments& arguments) {
  Settings settings;
  Options options("report",
                  "Makes one HTML page that needs no other file: BLEU by sentence length, scores, learning curves, "
                  "soft alignments, best and worst sentences, and how each run was made. Runs may still be training.");
  options.group("Content");
  options.add(
      "run", settings.run,
      {.help = "run directory, which may still be training; a run with the name of a system gets that system's colour",
       .value = "[NAME=]RUN"});
  options.add(
      "evaluation", settings.evaluation,
      {.help = "scores from evaluate --json; scores of the same sentences are shown side by side", .value = "FILE"});
  options.add("alignment", settings.alignment, {.help = "soft alignments from align --json", .value = "FILE"});
  options.add("round", settings.round,
              {.help = "scores from evaluate --json of systems trained from one seed; repeat it, once for each seed, "
                       "to show each score's mean over the seeds with its interval",
               .value = "FILE"});
  options.add("section", settings.section,
              {.help = "a further section of text, tables and sentences side by side, in the JSON format that the "
                       "manual page describes",
               .value = "FILE"});
  options.add("title", settings.title, {.help = "title of the page or of the chart"});
  options.add("chart", settings.chart,
              {.help = "table of numbers to draw as lines into --svg: tab-separated, a header line with the name of "
                       "the horizontal axis and of each line, then one row for each position on the axis",
               .value = "FILE"});
  options.add("chart-of", settings.chart_of, {.help = "name of the chart's vertical axis", .value = "TEXT"});
  options.group("Output");
  options.add("output", settings.output, {.help = "HTML page to write", .value = "FILE.html"});
  options.add("svg", settings.svg, {.help = "SVG file to write --chart to", .value = "FILE.svg"});
  options.add("csv", settings.csv,
              {.help = "folder for the same numbers as CSV, one file for each table and curve", .value = "FOLDER"});
  options.add("markdown", settings.markdown,
              {.help = "Markdown file for all tables of scores and sections", .value = "FILE"});
  if (!options.parse(arguments)) return 0;
  if (write_chart(settings)) return 0;
  check(settings);

  const report::Report report = read_all(settings);
  const std::string page = report::html_page(report);
  write_file_atomically(settings.output, page);
  if (!settings.markdown.empty()) write_file_atomically(settings.markdown, report::markdown_tables(report));
  if (!settings.csv.empty()) {
    std::error_code reason;
    fs::create_directories(settings.csv, reason);
    if (reason) throw Error(text_of("cannot make the folder ", settings.csv.string(), ": ", reason.message()));
    for (const report::CsvFile& file : report::csv_files(report)) {
      write_file_atomically(settings.csv / file.name, file.content);
    }
  }
  return 0;
}

}  // namespace rnnsearch::cli

#include "rnnsearch/cli/command.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iostream>
#include <thread>

#include "cli/options/common.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/report/line_chart.h"
#include "rnnsearch/report/page.h"
#include "rnnsearch/report/run.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

struct Settings {
  std::vector<std::string> run, evaluation, alignment, round, section;
  std::optional<std::string> title;
  fs::path output, csv, markdown;
  fs::path chart, svg;
  std::string chart_of;
  bool terminal = false, follow = false;
  std::size_t every = 10;
};

report::Report read_all(const Settings& settings) {
  report::Report report;
  for (const std::string& text : settings.run) {
    const NamedPath named = named_path(text);
    report::Run run = report::read_run(named.path, named.name);
    for (const report::Run& other : report.runs) {
      if (other.name != run.name) continue;
      throw UsageError("the runs {0} and {1} would both be called {2}; give one another name: --run NAME={1}",
                       other.path, run.path, run.name);
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

/// Whether there is something to make besides the picture of --chart.
bool has_output(const Settings& settings) {
  return !settings.output.empty() || !settings.csv.empty() || !settings.markdown.empty() || settings.terminal;
}

bool has_content(const Settings& settings) {
  return !settings.run.empty() || !settings.evaluation.empty() || !settings.alignment.empty() ||
         !settings.round.empty() || !settings.section.empty();
}

void write_chart(const Settings& settings) {
  report::LineChart chart = report::read_chart(settings.chart);
  chart.title = settings.title.value_or(settings.chart.stem().string());
  chart.y = {.name = settings.chart_of, .from_zero = true};
  write_file_atomically(settings.svg, report::svg_file_of(chart));
}

void check(const Options& options, Settings& settings) {
  if (settings.chart.empty() != settings.svg.empty()) {
    throw UsageError("--chart and --svg go together: a table of numbers, and the picture to make of it");
  }
  options.refuse(settings.chart.empty(), {"chart-of"}, "--{0} is for --chart; give both");
  options.refuse(!settings.follow, {"every"}, "--{0} is for --follow; give both");
  if (!has_output(settings)) {
    if (!settings.svg.empty() && !settings.follow && !has_content(settings)) return;
    throw UsageError(
        "there is nothing to write: give --output FILE.html, --csv FOLDER, --markdown FILE or --terminal, or only "
        "--chart and --svg");
  }
  if ((settings.terminal || settings.follow) && settings.run.empty()) {
    throw UsageError("--terminal and --follow show trainings: give --run RUN");
  }
  if (!has_content(settings)) {
    throw UsageError(
        "nothing to report: give --run RUN, --evaluation or --round FILE (of evaluate --json), --alignment FILE (of "
        "align --json) or --section FILE");
  }
  if (!settings.markdown.empty() && settings.evaluation.empty() && settings.round.empty() && settings.section.empty()) {
    throw UsageError("--markdown writes tables, and there are none: give --evaluation, --round or --section FILE");
  }
  options.check_each_once({"run", "evaluation", "alignment", "round", "section"});
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(settings.csv, ignored)) && !fs::is_directory(settings.csv, ignored))
    throw Error("--csv {} is a file, or a link to nothing; name a folder", settings.csv);
}

void write_files(const Settings& settings, const report::Report& report) {
  if (!settings.output.empty()) write_file_atomically(settings.output, report::html_page(report));
  if (!settings.markdown.empty()) write_file_atomically(settings.markdown, report::markdown_tables(report));
  if (settings.csv.empty()) return;
  std::error_code reason;
  fs::create_directories(settings.csv, reason);
  if (reason) {
    throw Error("cannot make the folder {} of --csv ({}); name a folder in a place where you may write", settings.csv,
                reason.message());
  }
  for (const report::CsvFile& file : report::csv_files(report)) {
    write_file_atomically(settings.csv / file.name, file.content);
  }
}

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

// On a terminal, the view replaces the one before.
void print_view(const report::Report& report, bool again) {
  std::string text = again && ::isatty(STDOUT_FILENO) == 1 ? "\x1b[H\x1b[2J" : "";
  for (const report::Run& run : report.runs) text += report::terminal_view(run, std::time(nullptr), terminal_width());
  std::cout << text << std::flush;
}

bool all_ended(const report::Report& report) {
  return std::all_of(report.runs.begin(), report.runs.end(), [](const auto& run) { return run.stopped.has_value(); });
}

// Writes and shows what there is until all trainings have ended. What has no update yet is waited for.
void follow(const Settings& settings) {
  for (bool ended = false; !ended;) {
    try {
      report::Report report = read_all(settings);
      ended = all_ended(report);
      if (!ended) report.refresh_seconds = settings.every;
      write_files(settings, report);
      if (settings.terminal) print_view(report, true);
    } catch (const report::NoUpdateYet& none) {
      if (settings.terminal) std::cout << none.what() << "\n" << std::flush;
    }
    if (!ended) std::this_thread::sleep_for(std::chrono::seconds(settings.every));
  }
}

void declare(Options& options, Settings& settings) {
  options.group("Content");
  options.add("run", settings.run, kBasic, Placeholder{"[NAME=]RUN"}, kNamedRun,
              "run directory, which may still be training; a run with the name of a system gets that system's colour");
  options.add("evaluation", settings.evaluation, kBasic, kInputFile,
              "scores from evaluate --json; scores of the same sentences are shown side by side");
  options.add("alignment", settings.alignment, kInputFile, "soft alignments from align --json");
  options.add("round", settings.round, kInputFile,
              "scores from evaluate --json of systems trained with one seed; give the option once for each seed, to "
              "show each score's mean over the seeds with its interval");
  options.add("section", settings.section, kInputFile,
              "a further section of text, tables and sentences side by side, in the JSON format that the manual page "
              "describes");
  options.add("title", settings.title, "title of the page or of the chart");
  options.add("chart", settings.chart, kInputFile,
              "table of numbers to draw as lines into --svg: tab-separated, a header line with the name of the "
              "horizontal axis and of each line, then one row for each position on the axis");
  options.add("chart-of", settings.chart_of, Placeholder{"TEXT"}, "name of the chart's vertical axis");
  options.group("Output");
  options.add("output", settings.output, kBasic, Placeholder{"FILE.html"}, kOutputFile, "HTML page to write");
  options.add("svg", settings.svg, Placeholder{"FILE.svg"}, kOutputFile, "SVG file to write --chart to");
  options.add("csv", settings.csv, Path{.kind = Path::kOutputFolder, .extension = ".csv"},
              "folder for the same numbers as CSV, one file for each table and curve");
  options.add("markdown", settings.markdown, kOutputFile, "Markdown file for all tables of scores and sections");
  options.add("terminal", settings.terminal,
              "print progress, loss, scores, speed and hosts of each --run as text, a few lines for each");
  options.add("follow", settings.follow,
              "update the page and the text every --every seconds until all trainings have ended; a browser reloads "
              "the page by itself, and text on a terminal is updated in place");
  options.add("every", settings.every, within(1, 86400), "number of seconds between two updates of --follow");
}

int work(const Options&, Settings& settings, const comm::Communicator&) {
  if (!settings.svg.empty()) write_chart(settings);
  if (!has_output(settings)) return 0;

  if (settings.follow) {
    follow(settings);
    return 0;
  }
  const report::Report report = read_all(settings);
  write_files(settings, report);
  if (settings.terminal) print_view(report, false);
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_report() {
  return invocation_of<Settings>(
      {"report",
       "Makes one self-contained HTML page with BLEU by sentence length, scores, learning curves, soft "
       "alignments, best and worst sentences, and how each run was made. Runs may still be training: "
       "--follow keeps the page up to date, and --terminal shows their progress as text.",
       "--run runs/small --evaluation bleu.json --output report.html"},
      declare, check, work);
}

}  // namespace rnnsearch::cli

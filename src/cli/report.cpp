#include "rnnsearch/cli/command.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <iostream>
#include <thread>

#include "cli/options/common.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/report/line_chart.h"
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
  bool terminal = false, follow = false;
  std::size_t every = 10;
};

report::Report read_all(const Settings& s) {
  report::Report report;
  for (const std::string& text : s.run) {
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
  for (const std::string& path : s.evaluation) evaluations.push_back(report::read_evaluation(path));
  report.evaluations = report::merged(std::move(evaluations));
  for (const std::string& path : s.alignment) report.alignments.push_back(report::read_alignment(path));
  for (const std::string& path : s.round) report.rounds.push_back(report::read_evaluation(path));
  report::check_same_test(report.rounds);
  for (const std::string& path : s.section) report.sections.push_back(report::read_section(path));
  report.title = s.title.value_or("Translation report");
  return report;
}

/// Whether there is something to make besides the picture of --chart.
bool has_output(const Settings& s) { return !s.output.empty() || !s.csv.empty() || !s.markdown.empty() || s.terminal; }

bool has_content(const Settings& s) {
  return !s.run.empty() || !s.evaluation.empty() || !s.alignment.empty() || !s.round.empty() || !s.section.empty();
}

void write_chart(const Settings& s) {
  report::LineChart chart = report::read_chart(s.chart);
  chart.title = s.title.value_or(s.chart.stem().string());
  chart.y = {.name = s.chart_of, .from_zero = true};
  write_file_atomically(s.svg, report::svg_file_of(chart));
}

void check(const Options& options, Settings& s) {
  if (s.chart.empty() != s.svg.empty())
    throw UsageError("--chart and --svg go together: a table of numbers, and the picture to make of it");
  options.refuse(s.chart.empty(), {"chart-of"}, "--{0} is for --chart; give both");
  options.refuse(!s.follow, {"every"}, "--{0} is for --follow; give both");
  if (!has_output(s)) {
    if (!s.svg.empty() && !s.follow && !has_content(s)) return;
    throw UsageError(
        "there is nothing to write: give --output FILE.html, --csv FOLDER, --markdown FILE or --terminal, or only "
        "--chart and --svg");
  }
  if ((s.terminal || s.follow) && s.run.empty())
    throw UsageError("--terminal and --follow show trainings: give --run RUN");
  if (!has_content(s))
    throw UsageError(
        "nothing to report: give --run RUN, --evaluation or --round FILE (of evaluate --json), --alignment FILE (of "
        "align --json) or --section FILE");
  if (!s.markdown.empty() && s.evaluation.empty() && s.round.empty() && s.section.empty())
    throw UsageError("--markdown writes tables, and there are none: give --evaluation, --round or --section FILE");
  options.check_each_once({"run", "evaluation", "alignment", "round", "section"});
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(s.csv, ignored)) && !fs::is_directory(s.csv, ignored))
    throw Error("--csv {} is a file, or a link to nothing; name a folder", s.csv);
}

void write_files(const Settings& s, const report::Report& report) {
  if (!s.output.empty()) write_file_atomically(s.output, report::html_page(report));
  if (!s.markdown.empty()) write_file_atomically(s.markdown, report::markdown_tables(report));
  if (s.csv.empty()) return;
  std::error_code reason;
  fs::create_directories(s.csv, reason);
  if (reason)
    throw Error("cannot make the folder {} of --csv ({}); name a folder in a place where you may write", s.csv,
                reason.message());
  for (const report::CsvFile& file : report::csv_files(report)) write_file_atomically(s.csv / file.name, file.content);
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
  return std::ranges::all_of(report.runs, [](const auto& run) { return run.stopped.has_value(); });
}

// Writes and shows what there is until all trainings have ended. What has no update yet is waited for.
void follow(const Settings& s) {
  for (bool ended = false; !ended;) {
    try {
      report::Report report = read_all(s);
      ended = all_ended(report);
      if (!ended) report.refresh_seconds = s.every;
      write_files(s, report);
      if (s.terminal) print_view(report, true);
    } catch (const report::NoUpdateYet& none) {
      if (s.terminal) std::cout << none.what() << "\n" << std::flush;
    }
    if (!ended) std::this_thread::sleep_for(std::chrono::seconds(s.every));
  }
}

void declare(Options& options, Settings& s) {
  options.group("Content");
  options.add("run", s.run, kBasic, Placeholder{"[NAME=]RUN"}, kNamedRun,
              "run directory, which may still be training; a run with the name of a system gets that system's colour");
  options.add("evaluation", s.evaluation, kBasic, kInputFile,
              "scores from evaluate --json; scores of the same sentences are shown side by side");
  options.add("alignment", s.alignment, kInputFile, "soft alignments from align --json");
  options.add("round", s.round, kInputFile,
              "scores from evaluate --json of systems trained with one seed; give the option once for each seed, to "
              "show each score's mean over the seeds with its interval");
  options.add("section", s.section, kInputFile,
              "a further section of text, tables and sentences side by side, in the JSON format that the manual page "
              "describes");
  options.add("title", s.title, "title of the page or of the chart");
  options.add("chart", s.chart, kInputFile,
              "table of numbers to draw as lines into --svg: tab-separated, a header line with the name of the "
              "horizontal axis and of each line, then one row for each position on the axis");
  options.add("chart-of", s.chart_of, Placeholder{"TEXT"}, "name of the chart's vertical axis");
  options.group("Output");
  options.add("output", s.output, kBasic, Placeholder{"FILE.html"}, kOutputFile, "HTML page to write");
  options.add("svg", s.svg, Placeholder{"FILE.svg"}, kOutputFile, "SVG file to write --chart to");
  options.add("csv", s.csv, Path{.kind = Path::kOutputFolder, .extension = ".csv"},
              "folder for the same numbers as CSV, one file for each table and curve");
  options.add("markdown", s.markdown, kOutputFile, "Markdown file for all tables of scores and sections");
  options.add("terminal", s.terminal,
              "print progress, loss, scores, speed and hosts of each --run as text, a few lines for each");
  options.add("follow", s.follow,
              "update the page and the text every --every seconds until all trainings have ended; a browser reloads "
              "the page by itself, and text on a terminal is updated in place");
  options.add("every", s.every, within(1, 86400), "number of seconds between two updates of --follow");
}

int work(const Options&, Settings& s, const comm::Communicator&) {
  if (!s.svg.empty()) write_chart(s);
  if (!has_output(s)) return 0;

  if (s.follow) {
    follow(s);
    return 0;
  }
  const report::Report report = read_all(s);
  write_files(s, report);
  if (s.terminal) print_view(report, false);
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_report() {
  return invocation_of<Settings>(
      {"report",
       "Makes one self-contained HTML page with BLEU by sentence length, scores, learning curves, soft alignments, "
       "best and worst sentences, and how each run was made. Runs may still be training: --follow keeps the page up to "
       "date, and --terminal shows their progress as text.",
       "--run runs/small --evaluation bleu.json --output report.html"},
      declare, check, work);
}

}  // namespace rnnsearch::cli

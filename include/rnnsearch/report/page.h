// The report: an HTML page of trainings, scores and alignments, and its tables as Markdown and CSV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/training_log.h"
#include "rnnsearch/report/input_files.h"

namespace rnnsearch::report {

// Reads a run directory for the report: the configuration of the training and its log. The training may still be
// running.

struct LoggedUpdate : UpdateFigures {
  std::uint64_t update = 0;
  std::uint64_t updates = 0;   // number of updates since the previous line
  double elapsed_seconds = 0;  // total time of the updates so far, without updates that were repeated after a restart
  double epochs() const { return static_cast<double>(epoch) + epoch_share; }
};

struct LoggedValidation {
  std::uint64_t update = 0;
  double elapsed_seconds = 0;
  double loss_per_word = 0;
  double bleu = 0;  // NaN if it was not computed
  bool best = false;
  /// The share of the time of its attempt that validations had taken; NaN if the log does not have it.
  double share = std::numeric_limits<double>::quiet_NaN();
};

struct Run {
  std::string name;
  std::filesystem::path path;
  std::vector<std::pair<std::string, std::string>> config;  // the options in config.ini, in their order
  std::shared_ptr<const Json> environment;                  // null if there is none
  std::vector<LoggedUpdate> updates;                        // ascending
  std::vector<LoggedValidation> validations;                // ascending
  std::vector<std::uint64_t> resumed;                       // the updates at which it resumed, in the order of the log
  std::uint64_t skipped_updates = 0;
  std::vector<std::uint64_t> damaged_lines;  // numbers of the lines of the log that are no records
  std::optional<std::string> stopped;        // the reason; empty if it is still running or was killed
  std::optional<std::time_t> logged;         // when the last line was written; none in logs of version 1
};

/// Says how many lines of the log are damaged, and which; empty if none is.
std::string sentence_of_damage(const Run& run);

/// Thrown for a run that has not logged an update yet.
struct NoUpdateYet : Error {
  using Error::Error;
};

/// If an update was computed by several attempts, only its last line counts. Lines that are no records are left out and
/// noted in damaged_lines, except for a last line without an end, which is being written. Throws Error for a folder
/// that is no run, and NoUpdateYet.
Run read_run(const std::filesystem::path& path, std::string name);

/// The seconds until the first of the run's limits (max-updates, max-epochs, max-minutes of its config.ini), at the
/// mean speed of its last 50 logged lines, so that batches of short and of long sentences count alike. None if the
/// training has ended, or has no limit. The end of a job is not known here.
std::optional<double> seconds_left(const Run& run);

/// The progress of a training as text for a terminal: lines of at most `width` characters (at least 40), each with a
/// line end: progress and time left, the loss with its course, validations, words a second with the share of each part
/// of an update, ranks by host. now: the time to compare the last line of the log with. Control characters in the
/// files' texts are replaced.
std::string terminal_view(const Run& run, std::time_t now, std::size_t width);

// The report.

struct Report {
  std::string title;
  std::vector<Run> runs;
  std::vector<EvaluationFile> evaluations;  // the result of merged()
  std::vector<AlignmentFile> alignments;
  std::vector<EvaluationFile> rounds;  // the same systems trained with different seeds; REQUIRES: check_same_test
  std::vector<SectionFile> sections;   // sections that the experiment wrote itself, in this order
  std::size_t refresh_seconds = 0;     // the browser loads the page again after this time, without a script; 0: never
};

/// Returns a self-contained HTML 5 file: style, script and pictures are embedded, and its security policy allows no
/// requests. The result depends only on the report. A name, of a run or a system, has the same colour on the whole
/// page.
std::string html_page(const Report& report);

/// Tables of sections, scores, buckets and comparisons in GitHub's Markdown.
std::string markdown_tables(const Report& report);

struct CsvFile {
  std::string name;  // such as "scores.csv"
  std::string content;
};
/// One file for each table and each curve, with all lines of the logs (the curves on the page are thinned). RFC 4180
/// with a header line, UTF-8; an unknown number is an empty field.
std::vector<CsvFile> csv_files(const Report& report);

}  // namespace rnnsearch::report

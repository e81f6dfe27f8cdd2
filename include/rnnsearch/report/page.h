// The report: an HTML page of trainings, scores and alignments, and its tables as Markdown and CSV.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rnnsearch/report/input_files.h"
#include "rnnsearch/report/run.h"

namespace rnnsearch::report {

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

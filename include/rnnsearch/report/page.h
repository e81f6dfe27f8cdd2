// The report: one HTML page of trainings, scores and alignments, and its tables for other programs.
#pragma once

#include <string>
#include <vector>

#include "rnnsearch/report/alignment_file.h"
#include "rnnsearch/report/evaluation_file.h"
#include "rnnsearch/report/run.h"
#include "rnnsearch/report/section_file.h"

namespace rnnsearch::report {

struct Report {
  std::string title;
  std::vector<Run> runs;
  std::vector<EvaluationFile> evaluations;  // merged()
  std::vector<AlignmentFile> alignments;
  std::vector<EvaluationFile> rounds;  // the same systems trained from fresh seeds; check_same_test
  std::vector<SectionFile> sections;   // what the experiment wrote itself, in this order
};

/// A whole file of HTML 5 that needs no other: style, script and pictures are in it, and its policy allows no request.
/// A function of the report alone. The same name has the same colour all over the page, be it a run's or a system's.
std::string html_page(const Report& report);

/// Tables of sections, scores, buckets and comparisons in Markdown, as GitHub reads it.
std::string markdown_tables(const Report& report);

struct CsvFile {
  std::string name;  // "scores.csv"
  std::string content;
};
/// One for each table and each curve, with all lines of the logs (the page's curves are thinned). RFC 4180, a header
/// line, UTF-8; a number that is not known is an empty field.
std::vector<CsvFile> csv_files(const Report& report);

}  // namespace rnnsearch::report

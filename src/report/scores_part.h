// The parts of the page that show scores, and their tables.
#pragma once

#include <string>
#include <vector>

#include "report/page_context.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::report {

void add_lengths(PageContext& page, const Report& report);
void add_scores(PageContext& page, const Report& report);
void add_words(PageContext& page, const Report& report);

/// The prefix of a caption, such as "test/news: ", if there are several evaluations; otherwise empty.
std::string prefix_of(const Report& report, const EvaluationFile& file);
/// The suffix of ids and file names: empty for the first evaluation, "-2" for the second.
std::string suffix_of(const Report& report, const EvaluationFile& file);
/// "reference words"
std::string length_heading(const EvaluationFile& file);

// These tables have no id yet and, except for the comparisons, no caption.

/// Rows of one kind, with a column for each system.
Table bucket_table(const EvaluationFile& file, std::vector<BucketScore> SystemEvaluation::*rows,
                   const std::string& heading);
Table score_table(const EvaluationFile& file);
std::vector<Table> comparison_tables(const EvaluationFile& file);

}  // namespace rnnsearch::report

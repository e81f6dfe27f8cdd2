// The parts of the page that show scores, and their tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/page_context.h"
#include "report/table.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::report {

void add_lengths(PageContext& page, const Report& report);
void add_scores(PageContext& page, const Report& report);
void add_words(PageContext& page, const Report& report);

/// The prefix of a caption, such as "test/news: ", if there are several evaluations; otherwise empty.
std::string prefix_of(const Report& report, const EvaluationFile& file);
/// The suffix of ids and file names: empty for the first evaluation, "-2" for the second.
std::string suffix_of(const Report& report, const EvaluationFile& file);

// These tables have no id yet and, except for the comparisons, no caption.

/// Rows of one kind, with a column for each system.
Table bucket_table(const EvaluationFile& file, std::vector<ScoreRow> SystemScores::*rows, const std::string& heading);
Table score_table(const EvaluationFile& file);
std::vector<Table> comparison_tables(const EvaluationFile& file);
/// Returns nothing if the evaluation does not have it.
std::optional<Table> word_table(const EvaluationFile& file);

/// A value with its interval, such as "21.34 [19.90, 22.61]".
std::string with_interval(double value, const std::optional<double>& low, const std::optional<double>& high);

}  // namespace rnnsearch::report

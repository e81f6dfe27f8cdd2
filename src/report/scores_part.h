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

/// "test/news: " before a caption when there are several evaluations; else empty.
std::string prefix_of(const Report& report, const EvaluationFile& file);
/// Empty for the first evaluation, "-2" for the second: for ids and names of files.
std::string suffix_of(const Report& report, const EvaluationFile& file);

// Tables, still without id and, but for the comparisons, caption.

/// Rows of one kind, a column a system.
Table bucket_table(const EvaluationFile& file, std::vector<ScoreRow> SystemScores::*rows, const std::string& heading);
Table score_table(const EvaluationFile& file);
std::vector<Table> comparison_tables(const EvaluationFile& file);
/// Nothing when the evaluation does not have it.
std::optional<Table> word_table(const EvaluationFile& file);

/// "21.34 [19.90, 22.61]"
std::string with_interval(double value, const std::optional<double>& low, const std::optional<double>& high);

}  // namespace rnnsearch::report

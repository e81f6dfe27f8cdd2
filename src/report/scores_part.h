// The parts of the page that show scores, of one training of each system and of several with different seeds.
#pragma once

#include <string>
#include <vector>

#include "report/page_context.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::report {

void add_lengths(PageContext& page, const Report& report);
void add_scores(PageContext& page, const Report& report);
void add_words(PageContext& page, const Report& report);
void add_rounds(PageContext& page, const Report& report);

/// The prefix of a caption, such as "test/news: ", if there are several evaluations; otherwise empty.
std::string prefix_of(const Report& report, const EvaluationFile& file);
/// The names of the systems, in the order of their first appearance in the rounds.
std::vector<std::string> systems_of(const std::vector<EvaluationFile>& rounds);
/// Tables with captions: first the means of each system over its rounds with intervals, then, for each metric, a row
/// for each round. Empty without rounds.
std::vector<Table> round_tables(const std::vector<EvaluationFile>& rounds);

}  // namespace rnnsearch::report

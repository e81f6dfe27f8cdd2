// The part of the page that shows the same systems trained with several seeds, and its tables.
#pragma once

#include <string>
#include <vector>

#include "report/page_context.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::report {

void add_rounds(PageContext& page, const Report& report);

/// The names of the systems, in the order of their first appearance in the rounds.
std::vector<std::string> systems_of(const std::vector<EvaluationFile>& rounds);

/// Tables with captions: first the means of each system over its rounds with intervals, then, for each metric, a row
/// for each round. Empty without rounds.
std::vector<Table> round_tables(const std::vector<EvaluationFile>& rounds);

}  // namespace rnnsearch::report

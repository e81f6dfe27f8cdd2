// The part of the page that shows the same systems trained from several seeds, and its tables.
#pragma once

#include <string>
#include <vector>

#include "report/page_context.h"
#include "report/table.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::report {

void add_rounds(PageContext& page, const Report& report);

/// Names, in the order in which the rounds bring them up.
std::vector<std::string> systems_of(const std::vector<EvaluationFile>& rounds);

/// With captions: each system's means over its rounds and their intervals, then of each metric a row a round. None of
/// no rounds.
std::vector<Table> round_tables(const std::vector<EvaluationFile>& rounds);

}  // namespace rnnsearch::report

// The parts of the page that show trainings: their curves, and how each run was made.
#pragma once

#include "report/page_context.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::report {

void add_training(PageContext& page, const Report& report);
void add_record(PageContext& page, const Report& report);

}  // namespace rnnsearch::report

// The part of the page that shows the progress of the trainings.
#pragma once

#include "report/page_context.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::report {

void add_training(PageContext& page, const Report& report);

}  // namespace rnnsearch::report

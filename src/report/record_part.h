// The part of the page that shows the configuration and environment of each run.
#pragma once

#include "report/page_context.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::report {

void add_record(PageContext& page, const Report& report);

}  // namespace rnnsearch::report

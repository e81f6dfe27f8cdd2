// The parts of the page that an experiment writes itself (section_file.h).
#pragma once

#include "report/page_context.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::report {

/// Sections with sentences are placed beside the other sentences of the page; all others (results) are placed at its
/// start.
void add_result_sections(PageContext& page, const Report& report);
void add_sentence_sections(PageContext& page, const Report& report);

}  // namespace rnnsearch::report

// The parts of the page that an experiment writes itself (section_file.h).
#pragma once

#include <vector>

#include "report/page_context.h"
#include "report/table.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::report {

/// Sections with sentences are placed beside the other sentences of the page; all others (results) are placed at its
/// start.
void add_result_sections(PageContext& page, const Report& report);
void add_sentence_sections(PageContext& page, const Report& report);

/// The tables of section `number`, counted from 1.
std::vector<Table> tables_of(const SectionFile& section, std::size_t number);

}  // namespace rnnsearch::report

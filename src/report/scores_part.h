// The parts of the page that show scores.
#pragma once

#include <string>

#include "report/page_context.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::report {

void add_lengths(PageContext& page, const Report& report);
void add_scores(PageContext& page, const Report& report);
void add_words(PageContext& page, const Report& report);

/// The prefix of a caption, such as "test/news: ", if there are several evaluations; otherwise empty.
std::string prefix_of(const Report& report, const EvaluationFile& file);
/// The suffix of ids and file names: empty for the first evaluation, "-2" for the second.
std::string suffix_of(const Report& report, const EvaluationFile& file);

}  // namespace rnnsearch::report

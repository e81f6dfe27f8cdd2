// Formats an evaluation as a text table.
#pragma once

#include <string>

#include "rnnsearch/evaluate/evaluation.h"

namespace rnnsearch::evaluate {

/// A text table with a row for each bucket and a column for each system. details: include length ratios and p values.
/// Ends with a line end.
std::string render_table(const Evaluation& evaluation, bool details = false);

}  // namespace rnnsearch::evaluate

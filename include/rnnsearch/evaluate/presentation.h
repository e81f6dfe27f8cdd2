// Formats an evaluation as a text table and as JSON.
#pragma once

#include <string>

#include "rnnsearch/base/json.h"
#include "rnnsearch/evaluate/evaluation.h"

namespace rnnsearch::evaluate {

/// A text table with a row for each bucket and a column for each system. details: include length ratios and p values.
/// Ends with a line end.
std::string render_table(const Evaluation& evaluation, bool details = false);

/// The object that `rnnsearch evaluate --json` prints: format "rnnsearch-evaluation", version 1.
Json to_json(const Evaluation& evaluation);

}  // namespace rnnsearch::evaluate

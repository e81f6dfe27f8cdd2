// An evaluation for people, and for programs.
#pragma once

#include <string>

#include "rnnsearch/base/json.h"
#include "rnnsearch/evaluate/evaluation.h"

namespace rnnsearch::evaluate {

/// A text table of fixed width: a row a bucket, a column a system. `details`: length ratios and p values in it. Ends
/// with a line end.
std::string render_table(const Evaluation& evaluation, bool details = false);

/// The object that `rnnsearch evaluate --json` prints: format "rnnsearch-evaluation", version 1.
Json to_json(const Evaluation& evaluation);

}  // namespace rnnsearch::evaluate

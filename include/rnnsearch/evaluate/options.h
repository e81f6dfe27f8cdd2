// The options of an evaluation as rows, and the combinations that make no sense.
#pragma once

#include <span>

#include "rnnsearch/base/option.h"
#include "rnnsearch/evaluate/evaluation.h"

namespace rnnsearch::evaluate {

/// A row for each member that a command line sets, but those that say how the result is printed.
std::span<const Option<EvaluationOptions>> option_table();

/// Throws Error for options of which one would be ignored.
void check(const EvaluationOptions& options);

}  // namespace rnnsearch::evaluate

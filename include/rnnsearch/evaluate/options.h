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

/// Throws Error for a test of significance, or a baseline, that these systems do not allow. `systems`: their names.
void check_systems(const EvaluationOptions& options, std::span<const std::string> systems);

}  // namespace rnnsearch::evaluate

// The options of an evaluation, and checks of their combinations.
#pragma once

#include <span>
#include <string>

#include "rnnsearch/base/option.h"
#include "rnnsearch/evaluate/evaluation.h"

namespace rnnsearch::evaluate {

/// All options, except those that only affect how the result is printed.
void declare(OptionList& options, EvaluationOptions& o);

/// Throws Error for a combination of options in which one would be ignored.
void check(const EvaluationOptions& options);

/// Throws Error if two systems have the same name, or for a test of significance or a baseline that these systems do
/// not allow. `systems`: their names.
void check_systems(const EvaluationOptions& options, std::span<const std::string> systems);

}  // namespace rnnsearch::evaluate

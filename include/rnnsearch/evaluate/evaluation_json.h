// Writes an evaluation as JSON and reads it back.
#pragma once

#include <string>

#include "rnnsearch/base/json.h"
#include "rnnsearch/evaluate/evaluation.h"

namespace rnnsearch::evaluate {

/// The object that `rnnsearch evaluate --json` prints: format "rnnsearch-evaluation", version 1.
Json to_json(const Evaluation& evaluation);

/// What to_json wrote, though not its "format". location: begins errors, such as the name of the file. Throws Error,
/// naming the location in it, for members that are missing, of the wrong type or out of range, and for systems of one
/// name or with different rows.
Evaluation from_json(const Json& json, const std::string& location);

}  // namespace rnnsearch::evaluate

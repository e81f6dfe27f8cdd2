// Parses values of the options of prepare.
#pragma once

#include <span>
#include <string>

#include "rnnsearch/base/option.h"
#include "rnnsearch/corpus/prepare.h"

namespace rnnsearch::corpus {

/// The title of the options that filter training pairs.
inline constexpr const char* kCleaningGroup = "Filters of training pairs";

std::span<const Option<CleaningOptions>> cleaning_option_table();

/// Parses NAME:SOURCE:REFERENCE[:REFERENCE]..., where a colon that belongs to a file name is written \:. Throws an
/// Error that names --test for anything else.
EvaluationFiles evaluation_files(const std::string& text);

}  // namespace rnnsearch::corpus

// How a command line names what prepare takes.
#pragma once

#include <span>
#include <string>

#include "rnnsearch/base/option.h"
#include "rnnsearch/corpus/prepare.h"

namespace rnnsearch::corpus {

/// The title of the options that filter training pairs.
inline constexpr const char* kCleaningGroup = "Filters of training pairs";

std::span<const Option<CleaningOptions>> cleaning_option_table();

/// Of NAME:SOURCE:REFERENCE[:REFERENCE]..., where a colon that belongs to a name of a file is written \:. Throws Error,
/// in the words of --test, for anything else.
EvaluationFiles evaluation_files(const std::string& text);

}  // namespace rnnsearch::corpus

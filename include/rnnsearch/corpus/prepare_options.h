// Parses values of the options of prepare.
#pragma once

#include <string>

#include "rnnsearch/base/option.h"
#include "rnnsearch/corpus/prepare.h"

namespace rnnsearch::corpus {

/// The filters of training pairs.
void declare(OptionList& options, CleaningOptions& o);

/// Parses NAME:SOURCE:REFERENCE[:REFERENCE]..., where a colon that belongs to a file name is written \:. Throws an
/// Error that names --test for anything else.
EvaluationFiles evaluation_files(const std::string& text);

}  // namespace rnnsearch::corpus

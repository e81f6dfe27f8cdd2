// Which options of a model go together.
#pragma once

#include "rnnsearch/model/options.h"

namespace rnnsearch::model {

/// Throws Error for a number out of its bounds, and for a combination that makes no sense, with the reason.
void check(const ModelOptions& options);

}  // namespace rnnsearch::model

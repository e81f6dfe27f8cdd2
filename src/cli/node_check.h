// One finding a line, ok, warning or FAILED (train/site_check.h); after a FAILED one the exit code is 1.
#pragma once

#include "rnnsearch/cli/options.h"

namespace rnnsearch::cli {

int run_node_check(const Arguments& arguments);

}  // namespace rnnsearch::cli

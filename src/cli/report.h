#pragma once

#include "rnnsearch/cli/options.h"

namespace rnnsearch::cli {

int run_report(const Arguments& arguments);

}  // namespace rnnsearch::cli

#pragma once

#include "rnnsearch/cli/options.h"

namespace rnnsearch::cli {

int run_average(const Arguments& arguments);

}  // namespace rnnsearch::cli

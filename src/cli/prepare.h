#pragma once

#include "rnnsearch/cli/options.h"

namespace rnnsearch::cli {

int run_prepare(const Arguments& arguments);

}  // namespace rnnsearch::cli

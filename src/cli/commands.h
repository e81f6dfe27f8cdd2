// The commands, one in each file of its name. Each takes what follows its name on the command line, prints its results
// to standard output and returns the exit code. What the user or the machine caused is thrown as Error.
#pragma once

#include "rnnsearch/cli/options.h"

namespace rnnsearch::cli {

int run_align(const Arguments& arguments);
int run_average(const Arguments& arguments);
int run_benchmark(const Arguments& arguments);
int run_evaluate(const Arguments& arguments);
int run_inspect(const Arguments& arguments);
int run_node_check(const Arguments& arguments);
int run_prepare(const Arguments& arguments);
int run_report(const Arguments& arguments);
int run_rescore(const Arguments& arguments);
int run_score(const Arguments& arguments);
int run_train(const Arguments& arguments);
int run_translate(const Arguments& arguments);
int run_tune(const Arguments& arguments);

}  // namespace rnnsearch::cli

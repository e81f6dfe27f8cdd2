// The commands, one in each file of its name. Each prints its results to standard output.
#pragma once

#include <memory>

#include "rnnsearch/cli/invocation.h"

namespace rnnsearch::cli {

std::unique_ptr<Invocation> make_align();
std::unique_ptr<Invocation> make_average();
std::unique_ptr<Invocation> make_benchmark();
std::unique_ptr<Invocation> make_evaluate();
std::unique_ptr<Invocation> make_inspect();
std::unique_ptr<Invocation> make_node_check();
std::unique_ptr<Invocation> make_prepare();
std::unique_ptr<Invocation> make_report();
std::unique_ptr<Invocation> make_rescore();
std::unique_ptr<Invocation> make_score();
std::unique_ptr<Invocation> make_train();
std::unique_ptr<Invocation> make_translate();

}  // namespace rnnsearch::cli

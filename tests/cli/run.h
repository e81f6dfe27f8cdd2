// Runs a command in the test's own process.
#pragma once

#include <memory>

#include "rnnsearch/cli/command.h"
#include "tests/support/communicator.h"

namespace rnnsearch::cli {

/// The exit code.
inline int run(const std::unique_ptr<Invocation>& invocation, const Arguments& arguments) {
  return invocation->begin(arguments) ? invocation->work(support::communicator()) : 0;
}

}  // namespace rnnsearch::cli

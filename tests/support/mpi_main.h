// main of a *_mpi_test.cpp: gtest on every rank; only the root prints its progress, every rank prints its failures.
#pragma once

#include "rnnsearch/comm/communicator.h"
#include "tests/support/communicator.h"
#include "tests/support/test.h"

namespace rnnsearch::support {

/// Prints failures of ranks other than the root.
class FailurePrinter : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", communicator().rank(), result.file_name() ? result.file_name() : "?",
                 result.line_number(), result.summary());
  }
};

/// A test that fails on one rank fails the program on all.
inline int run_mpi_tests(int argc, char** argv) {
  comm::Environment environment;
  all_ranks = &environment.communicator();
  testing::InitGoogleTest(&argc, argv);
  if (!communicator().is_root()) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter);
  }
  double failed = RUN_ALL_TESTS();
  communicator().max(std::span(&failed, 1));
  environment.finish();
  return failed > 0;
}

}  // namespace rnnsearch::support

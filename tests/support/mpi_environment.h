// MPI for the tests of a program that is not started by mpirun: one rank. Include it in one file of the program.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::support {

class Mpi : public testing::Environment {
 public:
  void SetUp() override { environment_ = std::make_unique<comm::Environment>(); }
  void TearDown() override { environment_->finish(); }

 private:
  std::unique_ptr<comm::Environment> environment_;
};
[[maybe_unused]] const auto* const kMpi = testing::AddGlobalTestEnvironment(new Mpi);

}  // namespace rnnsearch::support

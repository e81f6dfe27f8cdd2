#include "rnnsearch/kernels/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace rnnsearch::kernels {
namespace {

class ParallelFor : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { set_threads(GetParam()); }
};

TEST_P(ParallelFor, RunsEveryPieceOnce) {
  for (const std::size_t pieces : {0u, 1u, 2u, 7u, 1000u}) {
    std::vector<std::atomic<int>> runs(pieces);
    parallel_for(pieces, [&](std::size_t i) { ++runs[i]; });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
  }
}

TEST_P(ParallelFor, PassesAnExceptionOn) {
  const auto run = [] {
    parallel_for(8, [](std::size_t i) {
      if (i == 5) throw std::runtime_error("piece 5");
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
}

TEST_P(ParallelFor, MayBeNested) {
  std::atomic<int> total = 0;
  parallel_for(4, [&](std::size_t) { parallel_for(5, [&](std::size_t) { ++total; }); });
  EXPECT_EQ(total, 20);
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelFor, testing::Values(1, 2, 4));

TEST(Threads, AreAsManyAsWereSet) {
  set_threads(3);
  EXPECT_EQ(threads(), 3u);
  EXPECT_GE(allowed_cpus(), 1u);
}

}  // namespace
}  // namespace rnnsearch::kernels

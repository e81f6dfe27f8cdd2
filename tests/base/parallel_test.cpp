#include "rnnsearch/base/parallel.h"

#include "tests/support/test.h"

namespace rnnsearch {
namespace {

class ParallelFor : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
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

// All of them would take minutes.
TEST_P(ParallelFor, LeavesOutWhatWasNotBegunWhenOneThrew) {
  constexpr std::size_t kPieces = 100000;
  std::atomic<std::size_t> begun = 0;
  const auto run = [&] {
    parallel_for(kPieces, [&](std::size_t) {
      if (begun++ == 0) throw std::runtime_error("the first");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_LT(begun, kPieces / 4);
}

TEST_P(ParallelFor, EndsInTheMiddleWhenItIsToldTo) {
  std::atomic<std::size_t> begun = 0;
  const auto run = [&] { parallel_for(1000, [&](std::size_t) { ++begun; }); };
  {
    const Interruptible never([] { return false; });
    run();
    EXPECT_EQ(begun, 1000u);
    begun = 0;
    const Interruptible soon([&] { return begun >= 5; });
    EXPECT_THROW(run(), Interrupted);
    EXPECT_LT(begun, 5u + 4u) << "each thread may be about to begin one";
    EXPECT_THROW(parallel_for(1, [](std::size_t) { ADD_FAILURE(); }), Interrupted);
  }
  run();
  EXPECT_GE(begun, 1000u) << "nobody asks any more";
}

TEST_P(ParallelFor, MayBeNested) {
  std::atomic<int> total = 0;
  EXPECT_FALSE(inside_parallel_for());
  parallel_for(4, [&](std::size_t) {
    parallel_for(5, [&](std::size_t) { ++total; });
    EXPECT_TRUE(inside_parallel_for());
  });
  EXPECT_EQ(total, 20);
  EXPECT_FALSE(inside_parallel_for());
}

TEST_P(ParallelFor, StaysOnAThreadThatIsToWorkAlone) {
  const auto others = [] {
    std::atomic<std::size_t> count = 0;
    parallel_for(1000, [&, own = std::this_thread::get_id()](std::size_t) {
      if (std::this_thread::get_id() != own) ++count;
    });
    return count.load();
  };
  const SerialScope alone;
  {
    const SerialScope nested;
    EXPECT_EQ(others(), 0U);
  }
  EXPECT_EQ(others(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelFor, testing::Values(1, 2, 4));

TEST(Threads, AreAsManyAsWereSet) {
  set_thread_count(3);
  EXPECT_EQ(thread_count(), 3u);
  EXPECT_GE(allowed_cpus(), 1u);
}

// As `benchmark --threads 1,2,4` does it: after another number, in either direction.
TEST(Threads, WorkInTheNumberThatWasSetLast) {
  for (const std::size_t count : {4u, 1u, 3u, 2u, 4u}) {
    set_thread_count(count);
    std::atomic<std::size_t> begun = 0, running = 0, most = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    parallel_for(8 * count, [&](std::size_t) {
      const std::size_t now = ++running;
      for (std::size_t known = most; known < now && !most.compare_exchange_weak(known, now);) {
      }
      ++begun;
      // The first pieces wait for each other: there must be a thread for each of them.
      while (begun < count && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      --running;
    });
    EXPECT_EQ(most, count) << "threads at once";
  }
}

}  // namespace
}  // namespace rnnsearch

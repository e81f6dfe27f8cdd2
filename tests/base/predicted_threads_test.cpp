#include "rnnsearch/base/predicted_threads.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/stopwatch.h"

namespace rnnsearch {
namespace {

TEST(SecondsOfLoop, IsTheSumOnOneThread) {
  EXPECT_EQ(seconds_of_loop(std::vector{1.0, 2.0, 4.0}, 1), 7.0);
  EXPECT_EQ(seconds_of_loop({}, 4), 0.0);
}

TEST(SecondsOfLoop, IsTheLongestPieceOnManyThreads) {
  EXPECT_EQ(seconds_of_loop(std::vector{1.0, 2.0, 4.0}, 3), 4.0);
  EXPECT_EQ(seconds_of_loop(std::vector{1.0, 2.0, 4.0}, 64), 4.0);
}

TEST(SecondsOfLoop, GivesAThreadItsOwnPiecesFirst) {
  // The first thread has pieces 0 and 1, the second 2 and 3.
  EXPECT_EQ(seconds_of_loop(std::vector{3.0, 3.0, 2.0, 4.0}, 2), 6.0);
}

TEST(SecondsOfLoop, LetsAThreadTakeTheLastPiecesOfAnother) {
  // The second thread is free after 2 s and takes piece 1, which the first has not begun.
  EXPECT_EQ(seconds_of_loop(std::vector{5.0, 1.0, 1.0, 1.0}, 2), 5.0);
  // The last of another's pieces, not the next: of 0 1 2, the second thread takes 2 and leaves 1.
  EXPECT_EQ(seconds_of_loop(std::vector{5.0, 1.0, 7.0, 0.5, 0.5, 0.5}, 2), 8.5);
}

TEST(PredictedThreads, DividesWorkForSoManyThreadsAndRunsItOnOne) {
  const std::size_t before = thread_count();
  std::vector<std::size_t> order;
  {
    const PredictedThreads predicted(64);
    EXPECT_EQ(thread_count(), 64U);
    const auto here = std::this_thread::get_id();
    parallel_for(5, [&](std::size_t i) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      order.push_back(i);
    });
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(thread_count(), before);
  EXPECT_EQ(PredictedThreads::current(), nullptr);
}

void rest() {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// Pieces take at least 5 ms each. On a machine that stalls they take longer, but never less.
TEST(PredictedThreads, SavesWhatThreadsWouldShare) {
  const PredictedThreads predicted(2);
  rest();
  EXPECT_EQ(predicted.saved(), 0) << "outside of loops";
  parallel_for(1, [](std::size_t) { rest(); });
  EXPECT_EQ(predicted.saved(), 0) << "a single piece";
  parallel_for(2, [](std::size_t) { rest(); });
  EXPECT_GE(predicted.saved(), 0.005 - seconds_to_start_loop(2)) << "the shorter of two pieces";
}

TEST(PredictedThreads, CountsALoopWithinAPieceAsAPartOfIt) {
  const PredictedThreads predicted(4);
  int runs = 0;
  const Stopwatch watch;
  parallel_for(2, [&](std::size_t i) {
    parallel_for(i == 0 ? 1 : 3, [&](std::size_t) {
      rest();
      ++runs;
    });
  });
  const double both = watch.seconds();
  EXPECT_EQ(runs, 4);
  EXPECT_GT(predicted.saved(), 0);
  EXPECT_LE(predicted.saved(), both / 2) << "the shorter of two pieces, however many threads the longer could use";
}

TEST(PredictedThreads, StartALoopInATimeThatGrowsWithTheirNumber) {
  EXPECT_EQ(seconds_to_start_loop(1), 0);
  EXPECT_DOUBLE_EQ(seconds_to_start_loop(64), 6 * seconds_to_start_loop(2));
}

TEST(PredictedThreads, GoesOnAfterAPieceThatThrew) {
  const PredictedThreads predicted(2);
  const auto fails = [] { parallel_for(2, [](std::size_t) { throw std::runtime_error("piece"); }); };
  EXPECT_THROW(fails(), std::runtime_error);
  parallel_for(2, [](std::size_t) { rest(); });
  EXPECT_GT(predicted.saved(), 0) << "a loop of its own, not one within a piece";
}

}  // namespace
}  // namespace rnnsearch

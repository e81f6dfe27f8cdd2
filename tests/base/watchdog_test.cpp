#include "tests/support/watchdog.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace rnnsearch::support {
namespace {

TEST(WatchdogDeathTest, AbortsWhatHangs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const Watchdog watchdog(0.05, "rank 1 of the test");
        std::this_thread::sleep_for(std::chrono::seconds(20));
      },
      "watchdog: rank 1 of the test: not done after 0.05 s; aborting");
}

TEST(Watchdog, LeavesInPeaceWhatEndsInTime) {
  const auto start = std::chrono::steady_clock::now();
  { const Watchdog watchdog(60, "this test"); }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace rnnsearch::support

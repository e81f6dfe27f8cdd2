#include "comm/progress_thread.h"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "rnnsearch/base/error.h"

namespace rnnsearch::comm {
namespace {

void wait_with_limit(double limit, int milliseconds) {
  set_log_sink([](std::string_view line) { std::cerr << line << "\n"; });
  {
    const TimeLimit time_limit(limit, "this takes too long");
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }
  std::cerr << "in time\n";
  std::_Exit(0);
}

TEST(TimeLimit, EndsTheProcessThatWaitsLonger) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(wait_with_limit(0.2, 60000), testing::ExitedWithCode(1), "^this takes too long\n$");
}

TEST(TimeLimit, LeavesOneThatIsInTimeAlone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(wait_with_limit(60, 10), testing::ExitedWithCode(0), "^in time\n$");
}

TEST(TimeLimit, OfZeroSecondsIsNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(wait_with_limit(0, 300), testing::ExitedWithCode(0), "^in time\n$");
}

}  // namespace
}  // namespace rnnsearch::comm


#include <gtest/gtest.h>

#include <thread>

#include "rnnsearch/base/stopwatch.h"

namespace rnnsearch {
namespace {

void wait() {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

TEST(PhaseTimes, CountNoSecondTwice) {
  PhaseTimes times;
  const Stopwatch watch;
  {
    const PhaseTimes::Scope decoder(&times, Phase::kDecoder);
    wait();
    for (int i = 0; i < 2; ++i) {
      const PhaseTimes::Scope attention(&times, Phase::kAttention);
      wait();
    }
    wait();
  }
  const double inside = watch.seconds();
  wait();  // belongs to no phase
  EXPECT_GE(times.seconds(Phase::kDecoder), 0.04);
  EXPECT_GE(times.seconds(Phase::kAttention), 0.04);
  EXPECT_EQ(times.seconds(Phase::kEncoder), 0);
  EXPECT_LE(times.seconds(), inside);
  EXPECT_NEAR(times.seconds(), times.seconds(Phase::kDecoder) + times.seconds(Phase::kAttention), 1e-9);
  times.clear();
  EXPECT_EQ(times.seconds(), 0);
}

TEST(PhaseTimes, CountOneAfterTheOtherInOneScope) {
  PhaseTimes times;
  const Stopwatch watch;
  {
    PhaseTimes::Scope scope(&times, Phase::kPacking);
    wait();
    scope.change(Phase::kEncoder);
    wait();
  }
  EXPECT_GE(times.seconds(Phase::kPacking), 0.02);
  EXPECT_GE(times.seconds(Phase::kEncoder), 0.02);
  EXPECT_LE(times.seconds(), watch.seconds());
}

TEST(PhaseTimes, MayBeAbsent) {
  PhaseTimes times;
  {
    const PhaseTimes::Scope decoder(&times, Phase::kDecoder);
    PhaseTimes::Scope absent(nullptr, Phase::kPacking);
    wait();
    absent.change(Phase::kEncoder);
    wait();
  }
  EXPECT_GE(times.seconds(Phase::kDecoder), 0.04) << "a scope without times interrupts nobody's phase";
  EXPECT_EQ(times.seconds(), times.seconds(Phase::kDecoder));
}

}  // namespace
}  // namespace rnnsearch

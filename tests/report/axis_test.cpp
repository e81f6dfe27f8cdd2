#include "rnnsearch/report/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace rnnsearch::report {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> labels_of(const std::vector<double>& ticks) {
  std::vector<std::string> labels;
  for (const double tick : ticks) labels.push_back(tick_label(tick, ticks));
  return labels;
}

TEST(NiceTicks, AreRoundNumbersWithinBothEnds) {
  EXPECT_THAT(nice_ticks(0, 10, 6), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(nice_ticks(0.13, 0.61, 6), ElementsAre(0.2, 0.3, 0.4, 0.5, 0.6));
  EXPECT_THAT(nice_ticks(-30, 40, 5), ElementsAre(-20, 0, 20, 40));
  EXPECT_THAT(nice_ticks(7, 7, 5), ElementsAre(7));
}

TEST(NiceTicks, EndWhereDoublesAreTooFarApartForThem) {
  EXPECT_THAT(nice_ticks(1e16, 1e16 + 4, 6), ElementsAre(1e16));
  EXPECT_THAT(nice_ticks(5e-324, 1e-323, 6), ElementsAre(5e-324));
}

TEST(NiceTicks, AreAtMostSoManyForRangesOfAllSizes) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-12, 12), sign(-1, 1);
  for (int i = 0; i < 2000; ++i) {
    const double low = sign(random) * std::pow(10, exponent(random)), high = low + std::pow(10, exponent(random));
    const std::size_t most = 2 + static_cast<std::size_t>(i) % 8;
    if (!(low < high) || high - low < 1e-9 * std::abs(low)) continue;
    const auto ticks = nice_ticks(low, high, most);
    EXPECT_LE(ticks.size(), most) << low << " " << high;
    EXPECT_GE(2 * ticks.size() + 1, most / 2) << low << " " << high;
    for (const double tick : ticks) {
      EXPECT_GE(tick, low - 1e-6 * (high - low));
      EXPECT_LE(tick, high + 1e-6 * (high - low));
    }
  }
}

TEST(LogTicks, ArePowersOfTenOrTheirDoublesAndFives) {
  EXPECT_THAT(log_ticks(0.5, 20000, 6), ElementsAre(1, 10, 100, 1000, 10000));
  EXPECT_THAT(log_ticks(1, 60, 6), ElementsAre(1, 2, 5, 10, 20, 50));
  EXPECT_THAT(log_ticks(1e-5, 1e7, 5), ElementsAre(1e-5, 1e-2, 1e1, 1e4, 1e7));
  EXPECT_THAT(log_ticks(2.1, 2.9, 5), ElementsAre(2.2, 2.4, 2.6, 2.8));
}

TEST(TickLabel, HasTheDecimalsThatTellItFromItsNeighbours) {
  EXPECT_THAT(labels_of({0, 0.5, 1, 1.5}), ElementsAre("0", "0.5", "1.0", "1.5"));
  EXPECT_THAT(labels_of({0, 100000, 200000}), ElementsAre("0", "100,000", "200,000"));
  EXPECT_THAT(labels_of({0, 500000, 1000000}), ElementsAre("0", "0.5M", "1M"));
  EXPECT_THAT(labels_of({0, 0.0005, 0.001}), ElementsAre("0", "0.0005", "0.0010"));
  EXPECT_THAT(labels_of({0, 0.00002, 0.00004}), ElementsAre("0", "2e-05", "4e-05"));
  EXPECT_THAT(labels_of({0.1, 1, 10, 100}), ElementsAre("0.1", "1", "10", "100"));
}

TEST(Position, IsTheShareOfTheWayOnBothScales) {
  EXPECT_DOUBLE_EQ(position(15, 10, 20, Scale::kLinear), 0.5);
  EXPECT_DOUBLE_EQ(position(10, 1, 100, Scale::kLog), 0.5);
  EXPECT_DOUBLE_EQ(position(1, 1, 100, Scale::kLog), 0);
}

}  // namespace
}  // namespace rnnsearch::report

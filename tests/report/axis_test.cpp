#include "rnnsearch/report/line_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "rnnsearch/report/table.h"

namespace rnnsearch::report {
namespace {

using testing::ElementsAre;

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

TEST(Thinned, KeepsEndsAndEveryExtremeInOrder) {
  std::vector<Point> points;
  for (int i = 0; i < 100000; ++i) points.push_back({static_cast<double>(i), std::sin(i * 0.001)});
  points[31416].y = 50;
  points[77777].y = -50;
  const auto thin = thinned(points, 600);
  EXPECT_LE(thin.size(), 600u);
  EXPECT_GE(thin.size(), 500u);
  EXPECT_EQ(thin.front().x, 0);
  EXPECT_EQ(thin.back().x, 99999);
  EXPECT_TRUE(std::is_sorted(thin.begin(), thin.end(), [](const Point& a, const Point& b) { return a.x < b.x; }));
  const auto has = [&](double x) {
    return std::any_of(thin.begin(), thin.end(), [x](const Point& point) { return point.x == x; });
  };
  EXPECT_TRUE(has(31416));
  EXPECT_TRUE(has(77777));
  for (std::size_t i = 1; i < thin.size(); ++i) EXPECT_LT(thin[i - 1].x, thin[i].x) << "a point twice";
}

TEST(Thinned, LeavesShortLinesAlone) {
  const std::vector<Point> points{{0, 3}, {1, 2}, {2, 5}, {3, 1}, {4, 4}};
  EXPECT_EQ(thinned(points, 5).size(), 5u);
  EXPECT_TRUE(thinned({}, 600).empty());
}

TEST(Smoothed, IsTheMeanOfTheNeighboursThereAre) {
  const auto means = smoothed(std::vector<Point>{{0, 1}, {1, 2}, {2, 6}, {3, 1}, {4, 9}}, 5);
  ASSERT_EQ(means.size(), 5u);
  EXPECT_DOUBLE_EQ(means[0].y, 1);
  EXPECT_DOUBLE_EQ(means[1].y, 3);
  EXPECT_DOUBLE_EQ(means[2].y, 3.8);
  EXPECT_DOUBLE_EQ(means[3].y, 4.5);
  EXPECT_DOUBLE_EQ(means[4].y, 16.0 / 3);
}

TEST(Smoothed, IsTheMeanOfEveryWindowOfALongLogWhateverSpikesStandElsewhere) {
  std::vector<Point> points(997);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = {static_cast<double>(i), i == 3 ? 1e30 : std::sin(static_cast<double>(i))};
  const auto means = smoothed(points, 101);
  ASSERT_EQ(means.size(), points.size());
  for (std::size_t i = 60; i < points.size(); ++i) {
    const std::size_t after = std::min<std::size_t>(50, points.size() - 1 - i);
    double sum = 0;
    for (std::size_t k = i - 50; k <= i + after; ++k) sum += points[k].y;
    EXPECT_NEAR(means[i].y, sum / static_cast<double>(51 + after), 1e-12) << i;
  }
}

TEST(Numbers, AreRoundedAndGroupedForReaders) {
  EXPECT_EQ(fixed(1234567.891, 2), "1,234,567.89");
  EXPECT_EQ(fixed(-1234, 0), "-1,234");
  EXPECT_EQ(fixed(-0.001, 2), "0.00");
  EXPECT_EQ(fixed(-123, 0), "-123");
  EXPECT_EQ(fixed(std::numeric_limits<double>::quiet_NaN(), 2), "-");
}

TEST(Numbers, KeepTheDigitsThatCount) {
  EXPECT_EQ(significant(3.21719, 4), "3.217");
  EXPECT_EQ(significant(0.00145095, 4), "0.001451");
  EXPECT_EQ(significant(9.9996, 4), "10.00");
  EXPECT_EQ(significant(12480.4, 4), "12,480");
  EXPECT_EQ(significant(1.5e-9, 3), "1.50e-09");
  EXPECT_EQ(significant(0, 4), "0");
}

TEST(Numbers, SayHowLongInTwoUnits) {
  EXPECT_EQ(duration(44.6), "45 s");
  EXPECT_EQ(duration(750), "12 min 30 s");
  EXPECT_EQ(duration(12000), "3 h 20 min");
  EXPECT_EQ(duration(187200), "2 d 4 h");
}

}  // namespace
}  // namespace rnnsearch::report

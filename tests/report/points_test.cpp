#include "rnnsearch/report/points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace rnnsearch::report {
namespace {

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

}  // namespace
}  // namespace rnnsearch::report

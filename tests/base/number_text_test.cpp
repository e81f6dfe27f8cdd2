#include "rnnsearch/base/printable.h"

#include <gtest/gtest.h>

namespace rnnsearch {
namespace {

TEST(Figures, SeparateThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

TEST(Figures, RoundToTheDigitsAskedFor) {
  EXPECT_EQ(fixed(2.345, 1), "2.3");
  EXPECT_EQ(fixed(-0.5, 0), "-0");
  EXPECT_EQ(fixed(1e22, 0), "10000000000000000000000");
}

TEST(Figures, AgreeWithTheirNoun) {
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(2, "rank"), "2 ranks");
}

TEST(Figures, GiveAShareOfNothingAsZero) {
  EXPECT_EQ(percent(1, 3), "33.33%");
  EXPECT_EQ(percent(0, 0), "0.00%");
}

TEST(Figures, ShowADurationInItsTwoLargestUnits) {
  EXPECT_EQ(duration(44.6), "45s");
  EXPECT_EQ(duration(59.6), "1m00s");
  EXPECT_EQ(duration(750), "12m30s");
  EXPECT_EQ(duration(3 * 3600 + 5 * 60 + 59), "3h05m");
}

TEST(Figures, ShowATimeInUniversalTime) {
  EXPECT_EQ(utc(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc(1709210096), "2024-02-29T12:34:56Z");
}

}  // namespace
}  // namespace rnnsearch

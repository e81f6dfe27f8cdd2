#include "report/numbers.h"

#include <gtest/gtest.h>

#include <limits>

namespace rnnsearch::report {
namespace {

TEST(Numbers, AreRoundedAndGroupedForReaders) {
  EXPECT_EQ(fixed(1234567.891, 2), "1,234,567.89");
  EXPECT_EQ(fixed(-1234, 0), "-1,234");
  EXPECT_EQ(fixed(-0.001, 2), "0.00");
  EXPECT_EQ(fixed(-123, 0), "-123");
  EXPECT_EQ(fixed(std::numeric_limits<double>::quiet_NaN(), 2), "-");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000000), "1,000,000");
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

#include "rnnsearch/kernels/precision.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "rnnsearch/base/portable.h"

namespace rnnsearch::kernels {
namespace {

float rounded(float value) {
  BFloat16 result;
  round_to_bfloat16({&value, 1, 1}, {&result, 1, 1});
  return std::bit_cast<float>(static_cast<std::uint32_t>(result.bits) << 16);
}

TEST(RoundToBFloat16, IsTheNearestOfBothNeighbours) {
  Random random(1);
  for (int i = 0; i < 200000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random.below(std::uint64_t{1} << 32)));
    if (!std::isfinite(value)) continue;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const double below = std::bit_cast<float>(bits & 0xffff0000);  // towards 0
    const std::uint32_t next = (bits & 0xffff0000) + 0x10000;
    // Past the largest the next one would be 2^128.
    const double above = (next & 0x7fffffff) == 0x7f800000 ? std::copysign(std::ldexp(1.0, 128), value)
                                                           : static_cast<double>(std::bit_cast<float>(next));
    const double to_below = std::abs(value - below), to_above = std::abs(value - above);
    const bool lower_is_even = (bits >> 16 & 1) == 0;
    const double expected = to_below < to_above || (to_below == to_above && lower_is_even) ? below : above;
    if (std::abs(expected) == std::ldexp(1.0, 128)) {
      ASSERT_TRUE(std::isinf(rounded(value))) << value;
    } else {
      ASSERT_EQ(rounded(value), expected) << value;
    }
  }
}

TEST(RoundToBFloat16, RoundsHalvesToEven) {
  EXPECT_EQ(rounded(1 + std::ldexp(1.0F, -8)), 1);
  EXPECT_EQ(rounded(1 + 3 * std::ldexp(1.0F, -8)), 1 + std::ldexp(1.0F, -6));
  EXPECT_EQ(rounded(std::nextafter(1 + std::ldexp(1.0F, -8), 2.0F)), 1 + std::ldexp(1.0F, -7));
}

TEST(RoundToBFloat16, KeepsWhatIsNoOrdinaryNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(rounded(kInfinity), kInfinity);
  EXPECT_EQ(rounded(-kInfinity), -kInfinity);
  EXPECT_TRUE(std::signbit(rounded(-0.0F)));
  EXPECT_EQ(rounded(-0.0F), 0);
  for (const std::uint32_t nan : {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffffffffU}) {
    EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(nan)))) << std::hex << nan;
  }
}

TEST(RoundToBFloat16, RoundsRowsOfViews) {
  constexpr std::size_t kRows = 70, kCols = 301, kStride = 310;
  std::vector<float> from(kRows * kStride);
  Random random(2);
  for (float& value : from) value = static_cast<float>(random.normal());
  std::vector<BFloat16> to(kRows * (kCols + 1));
  for (BFloat16& value : to) value.bits = 0x1234;
  round_to_bfloat16({from.data(), kRows, kCols, kStride}, {to.data(), kRows, kCols, kCols + 1});
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kCols; ++j) {
      ASSERT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(to[i * (kCols + 1) + j].bits) << 16),
                rounded(from[i * kStride + j]));
    }
    ASSERT_EQ(to[i * (kCols + 1) + kCols].bits, 0x1234);
  }
}

}  // namespace
}  // namespace rnnsearch::kernels

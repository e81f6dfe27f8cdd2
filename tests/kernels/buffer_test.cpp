#include "rnnsearch/kernels/buffer.h"

#include "rnnsearch/base/portable.h"
#include "rnnsearch/kernels/precision.h"
#include "tests/support/test.h"

namespace rnnsearch::kernels {
namespace {

TEST(Buffer, IsAlignedToCacheLines) {
  Buffer<float> single;
  Buffer<double> other;
  for (std::size_t n = 1; n <= 70; ++n) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(single.shape(n, 3).data) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(other.shape(3, n).data) % 64, 0u);
  }
}

TEST(Buffer, KeepsItsMemoryForEqualAndSmallerShapes) {
  Buffer<float> buffer;
  float* const memory = buffer.shape(10, 6).data;
  EXPECT_EQ(buffer.shape(6, 10).data, memory);
  EXPECT_EQ(buffer.shape(2, 3).data, memory);
  EXPECT_EQ(buffer.shape(60, 1).data, memory);
}

TEST(Buffer, RemembersTheLastShape) {
  Buffer<double> buffer;
  EXPECT_EQ(buffer.view().rows, 0u);
  for (const std::size_t rows : {4u, 900u, 2u}) {
    buffer.shape(rows, 7);
    EXPECT_EQ(buffer.view().rows, rows);
    EXPECT_EQ(buffer.view().cols, 7u);
    EXPECT_EQ(buffer.view().stride, 7u);
    buffer.view()(rows - 1, 6) = 1;  // the last element is ours: AddressSanitizer would say
  }
}

TEST(Buffer, ZerosWhatWasWrittenBefore) {
  Buffer<float> buffer;
  const auto dirty = buffer.shape(5, 5);
  for (std::size_t i = 0; i < 25; ++i) dirty.data[i] = 3;
  for (const std::size_t cols : {3u, 50u}) {
    const auto view = buffer.zeros(5, cols);
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < cols; ++j) ASSERT_EQ(view(i, j), 0);
  }
}

TEST(Buffer, MayBeEmpty) {
  Buffer<float> buffer;
  EXPECT_EQ(buffer.shape(0, 8).rows, 0u);
  EXPECT_EQ(buffer.zeros(8, 0).cols, 0u);
}

constexpr std::size_t kLine = 64;

bool is_filled(MatrixView<float> matrix, float value) {
  for (std::size_t i = 0; i < matrix.rows * matrix.cols; ++i)
    if (matrix.data[i] != value) return false;
  return true;
}
void fill(MatrixView<float> matrix, float value) { std::fill_n(matrix.data, matrix.rows * matrix.cols, value); }

TEST(Scratch, GivesMatricesThatDoNotOverlapWhileTheirFramesLast) {
  Scratch scratch;
  Scratch::Frame outer(scratch);
  const auto a = outer.matrix(3, 5);
  fill(a, 1);
  for (int turn = 0; turn < 3; ++turn) {
    Scratch::Frame inner(scratch);
    const auto b = inner.matrix(100, 1000), c = inner.zeros(7, 1);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data) % kLine, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(c.data) % kLine, 0u);
    fill(b, 2);
    EXPECT_TRUE(is_filled(c, 0));
    fill(c, 3);
    EXPECT_TRUE(is_filled(b, 2));
  }
  const auto d = outer.matrix(2, 2);
  fill(d, 4);
  EXPECT_TRUE(is_filled(a, 1));
}

TEST(Scratch, TakesWhatItsHungriestMomentDoes) {
  Scratch scratch;
  const Scratch other = scratch;  // the same memory
  const auto pass = [&] {
    {
      Scratch::Frame frame(scratch);
      frame.matrix(1000, kLine);
    }
    Scratch::Frame frame(other);
    frame.matrix(500, kLine);
    Scratch::Frame inner(scratch);
    inner.matrix(700, kLine);
  };
  for (int turn = 0; turn < 3; ++turn) pass();
  Scratch::Frame frame(scratch);
  const float* const first = frame.matrix(1, 1).data;
  EXPECT_EQ(scratch.capacity(), 1200 * kLine * sizeof(float));
  // One block now: nothing is allocated any more.
  EXPECT_EQ(frame.matrix(1, 1).data, first + kLine / sizeof(float));
}

TEST(Scratch, AnEmptyMatrixTakesNothing) {
  Scratch scratch;
  Scratch::Frame frame(scratch);
  EXPECT_EQ(frame.zeros(0, 5).rows, 0u);
  EXPECT_EQ(frame.matrix(5, 0).cols, 0u);
  EXPECT_EQ(scratch.capacity(), 0u);
}

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
  for (const std::uint32_t nan : {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffffffffU})
    EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(nan)))) << std::hex << nan;
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

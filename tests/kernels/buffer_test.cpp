#include "rnnsearch/kernels/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>

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

}  // namespace
}  // namespace rnnsearch::kernels

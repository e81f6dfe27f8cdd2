#include "rnnsearch/kernels/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace rnnsearch::kernels {
namespace {

constexpr std::size_t kLine = 64;

bool is_filled(MatrixView<float> matrix, float value) {
  for (std::size_t i = 0; i < matrix.rows * matrix.cols; ++i) {
    if (matrix.data[i] != value) return false;
  }
  return true;
}
void fill(MatrixView<float> matrix, float value) {
  std::fill_n(matrix.data, matrix.rows * matrix.cols, value);
}

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

}  // namespace
}  // namespace rnnsearch::kernels

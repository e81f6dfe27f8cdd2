#include "rnnsearch/layers/embedding.h"

#include <gtest/gtest.h>

#include <vector>

#include "rnnsearch/base/portable.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"

namespace rnnsearch::layers {
namespace {

TEST(DistinctWords, StandInTheOrderOfTheirFirstUse) {
  const std::vector<WordId> rows = {7, 2, 7, 900000, 2, 7};
  const DistinctWords distinct(rows);
  EXPECT_EQ(distinct.words, (std::vector<WordId>{7, 2, 900000}));
  EXPECT_EQ(distinct.index, (std::vector<std::uint32_t>{0, 1, 0, 2, 1, 0}));
  EXPECT_TRUE(DistinctWords(std::span<const WordId>()).words.empty());
}

TEST(DistinctWords, OfEachRowAreItsRows) {
  const std::vector<WordId> rows = {7, 2, 7};
  const auto each = DistinctWords::each(rows);
  EXPECT_EQ(each.words, rows);
  EXPECT_EQ(each.index, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_TRUE(each.repeats().empty());
  EXPECT_EQ(DistinctWords(rows).repeats().size(), 3U);
}

// Enough rows for several strips and columns for several panels, so that rows stand elsewhere in the small product.
TEST(RepeatedRows, GiveTheBitsOfTheProductOfAllRows) {
  constexpr std::size_t kRows = 83, kDistinct = 17, kInputs = 45, kOutputs = 150, kBiases = 100;
  Random random(4);
  const auto values = [&](std::size_t count) {
    std::vector<float> drawn(count);
    for (float& value : drawn) value = static_cast<float>(random.normal());
    return drawn;
  };
  std::vector<float> distinct = values(kDistinct * kInputs), W = values(kInputs * kOutputs), b = values(kBiases);
  std::vector<std::uint32_t> index;
  for (std::size_t i = 0; i < kRows; ++i) index.push_back(static_cast<std::uint32_t>(random.below(kDistinct)));
  const ConstMatrixView<float> weights(W.data(), kInputs, kOutputs), few(distinct.data(), kDistinct, kInputs);
  std::vector<float> every(kRows * kInputs), expected(kRows * kOutputs), output(kRows * kOutputs, -1.0F);
  const MatrixView<float> all(every.data(), kRows, kInputs), product(expected.data(), kRows, kOutputs);
  kernels::gather_rows(few, index, all);
  kernels::multiply(all, weights, product);
  kernels::add_to_rows(b, product.columns(0, kBiases));
  affine_forward({few, index}, weights, b, {output.data(), kRows, kOutputs}, kernels::Scratch());
  EXPECT_EQ(output, expected);
  affine_forward({all, {}}, weights, b, {output.data(), kRows, kOutputs}, kernels::Scratch());
  EXPECT_EQ(output, expected);
}

TEST(RepeatedRows, AddUpTheGradientsOfEqualRows) {
  std::vector<Real> inputs(3 * 5), gradients{1, 2, 10, 20, 100, 200, 1000, 2000};
  const ConstMatrix distinct(inputs.data(), 3, 5);
  const Matrix gradient(gradients.data(), 4, 2);
  const std::vector<std::uint32_t> index = {2, 0, 2, 2};
  const kernels::Scratch memory;
  kernels::Scratch::Frame frame(memory);
  const auto sums = add_repeated({distinct, index}, gradient, frame);
  ASSERT_EQ(sums.rows, 3u);
  EXPECT_EQ(std::vector<Real>(sums.data, sums.data + 6), (std::vector<Real>{10, 20, 0, 0, 1101, 2202}));
  EXPECT_EQ(add_repeated({distinct, {}}, gradient, frame).data, gradients.data());
}

}  // namespace
}  // namespace rnnsearch::layers

#include "rnnsearch/layers/recurrent_layer.h"

#include "rnnsearch/base/portable.h"
#include "rnnsearch/kernels/gemm.h"
#include "rnnsearch/kernels/rows.h"
#include "rnnsearch/layers/embedding.h"
#include "tests/support/test.h"

namespace rnnsearch::layers {
namespace {

using Sizes = std::vector<std::size_t>;
using Words = std::vector<WordId>;

Sentences sentences_of(const std::vector<Words>& all) {
  Sentences sentences;
  for (const Words& words : all) sentences.add(words);
  return sentences;
}

TEST(Packing, PutsTheLongestFirstAndKeepsTheOrderOfEqualLengths) {
  const Packing packing(Sizes{2, 4, 1, 4, 2});
  EXPECT_EQ(packing.order, (std::vector<std::uint32_t>{1, 3, 0, 4, 2}));
  EXPECT_EQ(packing.active, (Sizes{5, 4, 2, 2}));
  EXPECT_EQ(packing.first_row, (Sizes{0, 5, 9, 11, 13}));
  EXPECT_EQ(packing.sentences(), 5u);
  EXPECT_EQ(packing.steps(), 4u);
  EXPECT_EQ(packing.words(), 13u);
  EXPECT_EQ(packing.continuing(0), 4u);
  EXPECT_EQ(packing.continuing(1), 2u);
  EXPECT_EQ(packing.continuing(3), 0u);
}

TEST(Packing, OfNoSentencesHasNoSteps) {
  for (const Packing& packing : {Packing(), Packing(Sizes{})}) {
    EXPECT_EQ(packing.sentences(), 0u);
    EXPECT_EQ(packing.steps(), 0u);
    EXPECT_EQ(packing.words(), 0u);
  }
}

TEST(Packing, GivesEveryWordOneRowInRandomBatches) {
  Random random(1);
  for (int round = 0; round < 50; ++round) {
    Sizes lengths(1 + random.below(20));
    for (std::size_t& length : lengths) length = 1 + random.below(15);
    const Packing packing(lengths);
    Sizes seen(lengths.size(), 0);  // steps of each sentence
    ASSERT_EQ(packing.active.size() + 1, packing.first_row.size());
    for (std::size_t t = 0; t < packing.steps(); ++t) {
      ASSERT_EQ(packing.first_row[t + 1] - packing.first_row[t], packing.active[t]);
      for (std::size_t p = 0; p < packing.active[t]; ++p) ++seen[packing.order[p]];
    }
    EXPECT_EQ(seen, lengths);
    for (std::size_t p = 1; p < packing.sentences(); ++p) {
      const std::size_t a = packing.order[p - 1], b = packing.order[p];
      EXPECT_TRUE(lengths[a] > lengths[b] || (lengths[a] == lengths[b] && a < b));
    }
  }
}

TEST(PackedWords, LieStepByStepEachSentenceEndedByTheEndSymbol) {
  const Sentences sentences = sentences_of({{10}, {20, 21, 22}, {}, {40, 41}});
  EXPECT_EQ(lengths_with_end(sentences), (Sizes{2, 4, 1, 3}));
  const Packing packing(lengths_with_end(sentences));
  EXPECT_EQ(pack_words(packing, sentences), (Words{20, 40, 10, kEnd, 21, 41, kEnd, 22, kEnd, kEnd}));
}

TEST(OneStepBefore, IsThePreviousNumberOfTheSameSentence) {
  const Packing packing(Sizes{1, 3, 2});
  const std::vector<std::uint32_t> of = {10, 20, 30, 11, 21, 12};
  EXPECT_EQ(one_step_before(packing, of, 7), (std::vector<std::uint32_t>{7, 7, 7, 10, 20, 11}));
  EXPECT_TRUE(one_step_before(Packing(), {}, 7).empty());
}

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

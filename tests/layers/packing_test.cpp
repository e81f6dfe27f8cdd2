#include "rnnsearch/layers/packing.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/layers/fixtures.h"

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

TEST(Shift, GivesEachStepTheRowsOfTheStepBefore) {
  const Packing packing(Sizes{1, 3, 2});
  Matrix from(6, 2), to(6, 2, -1);
  std::iota(from.values.begin(), from.values.end(), 1.0);
  shift_forward<double>(packing, from.view(), to.view());
  EXPECT_EQ(to.values, (std::vector<double>{0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 7, 8}));
}

TEST(Shift, BackwardIsTheTransposedForwardAndAdds) {
  Random random(2);
  const Packing packing(Sizes{4, 1, 7, 7, 3, 1});
  const std::size_t words = packing.words();
  Matrix from = random_matrix(random, words, 3), to(words, 3), above = random_matrix(random, words, 3);
  shift_forward<double>(packing, from.view(), to.view());
  Matrix gradient(words, 3, kBefore);
  shift_backward<double>(packing, above.view(), gradient.view());
  for (double& value : gradient.values) value -= kBefore;
  EXPECT_NEAR(weighted_sum(above, to.view()), weighted_sum(gradient, from.view()), 1e-12);
  for (std::size_t p = 0; p < packing.sentences(); ++p) {  // nobody reads a sentence's last word
    std::size_t t = packing.steps() - 1;
    while (packing.active[t] <= p) --t;
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(gradient.view()(packing.first_row[t] + p, j), 0);
  }
}

}  // namespace
}  // namespace rnnsearch::layers

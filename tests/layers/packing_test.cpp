#include "rnnsearch/layers/recurrent_layer.h"

#include <gtest/gtest.h>

#include "rnnsearch/base/portable.h"

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

}  // namespace
}  // namespace rnnsearch::layers

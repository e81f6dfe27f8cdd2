#include "rnnsearch/corpus/synthetic_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/message_of.h"

namespace rnnsearch::corpus {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(PairLengths, AreTwoNumbersALine) {
  EXPECT_EQ(read_pair_lengths("25 27\n1\t100000\n 3  4 ", "lengths"),
            (std::vector<PairLength>{{25, 27}, {1, 100000}, {3, 4}}));
}

TEST(PairLengths, RefuseALineOfAnythingElse) {
  for (const char* line :
       {"25", "", "25 27 29", "0 5", "5 0", "-3 4", "2.5 3", "a b", "1 100001", "5 99999999999999999999"}) {
    EXPECT_THAT(message_of([&] { read_pair_lengths(std::string("3 4\n") + line + "\n3 4\n", "lengths.txt"); }),
                AllOf(HasSubstr("lengths.txt, line 2"), HasSubstr(line)));
  }
  EXPECT_THAT(message_of([] { read_pair_lengths("", "lengths.txt"); }), HasSubstr("lengths.txt is empty"));
}

SyntheticOptions options() {
  SyntheticOptions options;
  for (std::size_t i = 1; i <= 30; ++i) options.lengths.push_back({i, 31 - i});
  options.source_words = 1000;
  options.target_words = 4;
  options.batch_sentences = 7;
  options.pool_batches = 5;
  return options;
}

TEST(SyntheticBatches, AreWholeAndOfTheGivenLengths) {
  const auto batches = synthetic_batches(options(), 12, 0, 1);
  ASSERT_EQ(batches.size(), 12);
  std::size_t narrow = 0;
  for (const auto& batch : batches) {
    ASSERT_EQ(batch.source.size(), 7);
    EXPECT_EQ(batch.batch_pairs, 7);
    EXPECT_EQ(batch.batch_source_words, batch.source.words.size());
    EXPECT_EQ(batch.batch_target_words, batch.target.words.size());
    std::size_t longest = 0, shortest = 100;
    for (std::size_t i = 0; i < 7; ++i) {
      EXPECT_EQ(batch.source.length(i) + batch.target.length(i), 31);
      longest = std::max({longest, batch.source.length(i), batch.target.length(i)});
      shortest = std::min(shortest, std::max(batch.source.length(i), batch.target.length(i)));
    }
    narrow += longest - shortest <= 4 ? 1 : 0;
    for (const WordId word : batch.source.words) EXPECT_TRUE(2 < word && word < 1000);
    for (const WordId word : batch.target.words) EXPECT_EQ(word, 3);
  }
  EXPECT_EQ(narrow, 12) << "pools are sorted by length";
}

TEST(SyntheticBatches, AreSharedByTheRanks) {
  const auto whole = synthetic_batches(options(), 6, 0, 1);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const auto share = synthetic_batches(options(), 6, rank, 3);
    for (std::size_t b = 0; b < 6; ++b) {
      EXPECT_EQ(share[b].batch_pairs, 7);
      EXPECT_EQ(share[b].batch_source_words, whole[b].batch_source_words);
      ASSERT_EQ(share[b].source.size(), rank == 0 ? 3 : 2);
      for (std::size_t i = 0; i < share[b].source.size(); ++i) {
        EXPECT_TRUE(std::ranges::equal(share[b].source[i], whole[b].source[rank + 3 * i]));
        EXPECT_TRUE(std::ranges::equal(share[b].target[i], whole[b].target[rank + 3 * i]));
      }
    }
  }
}

TEST(SyntheticBatches, RepeatFrequentWordsAsTextDoes) {
  SyntheticOptions text;
  text.lengths = {{50, 50}};
  text.source_words = text.target_words = 10003;
  std::vector<std::size_t> times(text.source_words);
  std::size_t words = 0;
  for (const auto& batch : synthetic_batches(text, 20, 0, 1)) {
    for (const WordId word : batch.source.words) ++times[word], ++words;
  }
  // The first tenth of the ranks of a law 1 / k carries about log(1000) / log(10000), three quarters of the text.
  std::size_t head = 0;
  for (std::size_t word = 3; word < 1003; ++word) head += times[word];
  EXPECT_NEAR(static_cast<double>(head) / static_cast<double>(words), 0.75, 0.02);
  EXPECT_GT(times[3], times[12]);
  EXPECT_GT(std::ranges::count_if(times, [](std::size_t n) { return n > 0; }), 3000);
}

}  // namespace
}  // namespace rnnsearch::corpus

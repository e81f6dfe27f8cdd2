#include "rnnsearch/decode/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <sstream>

#include "rnnsearch/base/random.h"

namespace rnnsearch::decode {
namespace {

using testing::ElementsAre;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

TEST(Parts, OfAShortLineAreOne) {
  EXPECT_THAT(part_ends({}, 3), ElementsAre(0));
  EXPECT_THAT(part_ends(words_of("a . b"), 3), ElementsAre(3));
  EXPECT_THAT(part_ends(words_of("a . b . c"), 0), ElementsAre(5));
}

TEST(Parts, EndAtTheLastSentenceEndThatFits) {
  EXPECT_THAT(part_ends(words_of("a . b c ? d e f"), 6), ElementsAre(5, 8));
  EXPECT_THAT(part_ends(words_of("a . b c ? d e f"), 4), ElementsAre(2, 5, 8));
  EXPECT_THAT(part_ends(words_of("a b. c! d e f"), 4), ElementsAre(3, 6)) << "a mark at a word's end";
}

TEST(Parts, HaveTheMostWordsWhereNoSentenceEnds) {
  EXPECT_THAT(part_ends(words_of("a b c d e f g"), 3), ElementsAre(3, 6, 7));
  EXPECT_THAT(part_ends(words_of(". b c d e f"), 3), ElementsAre(1, 4, 6));
}

TEST(Parts, KeepClosingMarksWithTheSentence) {
  EXPECT_THAT(part_ends(words_of("a . \" ) b c d"), 5), ElementsAre(4, 7));
  EXPECT_THAT(part_ends(words_of("a . ) b ? \u201d c d"), 5), ElementsAre(3, 8)) << "the mark after ? does not fit";
  EXPECT_THAT(part_ends(words_of("a .\" b c d"), 3), ElementsAre(2, 5));
}

TEST(Parts, EndAtMarksOfOtherScriptsAndTokenizers) {
  EXPECT_THAT(part_ends(words_of("\u4f60 \u597d \u3002 \u4f60 \u597d"), 4), ElementsAre(3, 5));
  EXPECT_THAT(part_ends(words_of("a \uffed. \uffed\" b \uffed, c d"), 5), ElementsAre(3, 7)) << "joiner marks";
  EXPECT_THAT(part_ends(words_of("a \uffed. \"\uffed b \uffed, c d"), 5), ElementsAre(2, 7)) << "an opening mark";
  EXPECT_THAT(part_ends(words_of("\u2581a . \u2581b c \u2581d"), 4), ElementsAre(2, 5)) << "pieces";
  EXPECT_THAT(part_ends(words_of("a \u061f b \u0964 c"), 3), ElementsAre(2, 5)) << "the last of two marks that fits";
}

TEST(Parts, NeverHaveMoreWordsThanAllowedAndLoseNone) {
  Random random(1);
  const std::vector<std::string> some{"a", ".", ")", "\"", "b.", "?"};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> words(random.below(60));
    for (std::string& word : words) word = some[random.below(some.size())];
    const std::size_t longest = 1 + random.below(12);
    std::size_t begin = 0;
    for (const std::size_t end : part_ends(words, longest)) {
      EXPECT_LE(end - begin, longest);
      EXPECT_TRUE(end > begin || words.empty());
      begin = end;
    }
    EXPECT_EQ(begin, words.size());
  }
}

}  // namespace
}  // namespace rnnsearch::decode

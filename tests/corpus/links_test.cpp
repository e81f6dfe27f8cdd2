#include "rnnsearch/corpus/text_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rnnsearch::corpus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Links, AreThePositionsOfALine) {
  std::vector<std::uint32_t> links;
  EXPECT_EQ(read_links("0-0 2-1\t1-2 0-0 2-1 \r", whole_words(3), whole_words(3), links), "") << "a set of links";
  EXPECT_THAT(links, ElementsAre(0, 0, 1, 2, 2, 1));
  EXPECT_EQ(read_links(" 2-0", whole_words(3), whole_words(1), links), "");
  EXPECT_THAT(links, ElementsAre(0, 0, 1, 2, 2, 1, 2, 0));
  links.clear();
  EXPECT_EQ(read_links("", whole_words(0), whole_words(0), links), "");
  EXPECT_EQ(read_links(" \t", whole_words(0), whole_words(0), links), "");
  EXPECT_TRUE(links.empty());
}

TEST(Links, OfWordsAreThoseOfEachPieceWithEachPiece) {
  const std::vector<WordPieces> source{{0, 2}, {2, 2}, {2, 5}}, target{{0, 1}, {0, 3}};  // of which one has no pieces
  std::vector<std::uint32_t> links;
  EXPECT_EQ(read_links("2-0 0-1 1-1", source, target, links), "");
  EXPECT_THAT(links, ElementsAre(0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2, 2, 0, 3, 0, 4, 0));
  EXPECT_THAT(read_links("3-0", source, target, links), HasSubstr("the link 3-0 is past the 3 words of the source"));
}

TEST(Links, AreRefusedWhereTheyAreNotBetweenWordsOfThePair) {
  std::vector<std::uint32_t> links;
  for (const char* line : {"0:0", "0-", "-0", "0", "a-0", "0-0x", "0-0-0", "0--1", "-1-0", "+1-0", "1 - 0", "0?0",
                           "4294967296-0", "0-99999999999999999999"}) {
    EXPECT_THAT(read_links(line, whole_words(9), whole_words(9), links), HasSubstr("is not a link such as 0-0"))
        << line;
  }
  EXPECT_THAT(read_links("0-0 3-0", whole_words(3), whole_words(9), links),
              HasSubstr("the link 3-0 is past the 3 words of the source"));
  EXPECT_THAT(read_links("0-0 0-3", whole_words(9), whole_words(3), links),
              HasSubstr("the link 0-3 is past the 3 words of the target"));
  EXPECT_THAT(read_links("0-0", whole_words(0), whole_words(1), links), HasSubstr("past the 0 words of the source"));
  EXPECT_THAT(read_links("\x1b[2J", whole_words(1), whole_words(1), links), HasSubstr("'\\x1b[2J' is not a link"));
}

}  // namespace
}  // namespace rnnsearch::corpus

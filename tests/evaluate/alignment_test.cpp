#include "rnnsearch/evaluate/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/portable.h"
#include "tests/support/message_of.h"

namespace rnnsearch::evaluate {
namespace {

using testing::AllOf;
using testing::HasSubstr;

AlignmentScore score(const std::string& links, const std::string& gold) {
  return alignment_score_of(sentence_statistics(links_of(links, "links"), gold_links_of(gold, "gold")));
}

TEST(Links, AreReadInOrderAndOnce) {
  EXPECT_EQ(links_of("2-1 0-0  1-12\t1-2 0-0 \r", "x"), (Links{{0, 0}, {1, 2}, {1, 12}, {2, 1}}));
  EXPECT_EQ(links_of("", "x"), Links{});
  EXPECT_EQ(links_of(" \t", "x"), Links{});
  EXPECT_EQ(links_of("4294967295-0", "x"), (Links{{4294967295U, 0}}));
}

TEST(Links, OfGoldAreSureOrPossible) {
  const GoldLinks gold = gold_links_of("3-3 0?1 0-0 2p2 3?3", "x");
  EXPECT_EQ(gold.sure, (Links{{0, 0}, {3, 3}}));
  EXPECT_EQ(gold.possible, (Links{{0, 0}, {0, 1}, {2, 2}, {3, 3}})) << "every sure link is possible";
}

TEST(Links, MayBeCountedFromOne) {
  EXPECT_EQ(links_of("1-1 2-3", "x", 1), links_of("0-0 1-2", "x"));
  EXPECT_EQ(gold_links_of("1-1 2p3", "x", 1), gold_links_of("0-0 1?2", "x"));
  EXPECT_THROW(links_of("0-1", "x", 1), Error);
  EXPECT_THROW(links_of("1-0", "x", 1), Error);
}

TEST(Links, ThatAreNoneAreRefused) {
  std::istringstream texts(
      "0 - 0- -0 -- 0-0-0 a-b 0-0x x0-0 0--1 +1-0 1.0-2 0_1 0-1,1-2 4294967296-0 0-99999999999999999999 0/1 0:1 0? ?0 "
      "0P1");
  for (std::string text; texts >> text;) {
    EXPECT_THROW(links_of(text, "x"), Error) << text;
    EXPECT_THROW(gold_links_of(text, "x"), Error) << text;
  }
  EXPECT_THROW(links_of("0 - 0", "x"), Error);
  EXPECT_THROW(links_of("0?0", "x"), Error) << "nothing is possible only, outside gold alignments";
  EXPECT_THROW(links_of("0p0", "x"), Error);
}

TEST(Links, AreRefusedInOneSentenceWithThePlace) {
  EXPECT_THAT(message_of([] { links_of("0-0 1x2", "links.txt, line 3"); }),
              AllOf(HasSubstr("links.txt, line 3, link 2: '1x2' is not a link"), HasSubstr("0-1"),
                    testing::Not(HasSubstr("possible"))));
  const std::string garbage = std::string("\x89HDF\x01\0\n", 7) + std::string(1000, '\xFF');
  const std::string error = message_of([&] { links_of(garbage, "x"); });
  EXPECT_LT(error.size(), 200u);
  EXPECT_TRUE(std::all_of(error.begin(), error.end(), [](char c) { return c >= ' ' && c <= '~'; })) << error;
}

TEST(Links, BeyondTheirSentencesAreRefused) {
  EXPECT_NO_THROW(check_links({{0, 0}, {3, 1}}, 4, 2, "x"));
  EXPECT_NO_THROW(check_links({}, 0, 0, "x"));
  EXPECT_THAT(message_of([] {
                check_links({{0, 0}, {4, 1}}, 4, 2, "gold.txt, line 7");
              }),
              AllOf(HasSubstr("gold.txt, line 7: link 4-1"), HasSubstr("the source sentence, which has 4 words")));
  EXPECT_THAT(message_of([] {
                check_links({{3, 2}}, 4, 2, "x");
              }),
              HasSubstr("the target sentence, which has 2 words"));
}

TEST(Links, ComeBackFromTheLineTheyWereWrittenTo) {
  Random random(31);
  for (int round = 0; round < 50; ++round) {
    std::set<Link> links;
    for (std::uint64_t n = random.below(20); n > 0; --n) {
      links.insert({static_cast<std::uint32_t>(random.below(12)), static_cast<std::uint32_t>(random.below(12))});
    }
    const Links sorted(links.begin(), links.end());
    EXPECT_EQ(links_of(pharaoh_line(sorted), "x"), sorted);
  }
  EXPECT_EQ(pharaoh_line({{0, 0}, {1, 12}}), "0-0 1-12");
  EXPECT_EQ(pharaoh_line({}), "");
}

TEST(GoldLinksOfAFile, AreThoseOfItsLinesOrRefusedWithTheLine) {
  const std::vector<std::string> lines{"1-1 1-1", "2p2", ""};
  EXPECT_EQ(read_gold_links(lines, "gold", 1), (std::vector<GoldLinks>{{{{0, 0}}, {{0, 0}}}, {{}, {{1, 1}}}, {}}));
  const std::vector<std::string> bad{"0-0", "0-0 nonsense"};
  EXPECT_THAT(message_of([&] { read_gold_links(bad, "gold"); }), HasSubstr("gold, line 2, link 2: 'nonsense'"));
}

TEST(AlignmentErrorRate, IsThatOfHandMadeSentences) {
  // NLTK's example of nltk.translate.metrics: one of three links right, all gold links sure.
  EXPECT_DOUBLE_EQ(score("0-0 1-2 2-1", "0-0 1-1 2-2").error_rate, 2.0 / 3.0);
  // Two links, one of them sure and one possible; a second sure link is missing: 1 - (1 + 2) / (2 + 2).
  const AlignmentScore half = score("0-0 1-2", "0-0 1?2 3-3");
  EXPECT_DOUBLE_EQ(half.error_rate, 0.25);
  EXPECT_DOUBLE_EQ(half.precision, 1);
  EXPECT_DOUBLE_EQ(half.recall, 0.5);
  EXPECT_DOUBLE_EQ(half.f1, 2.0 / 3.0);
  EXPECT_EQ(half.statistics, (AlignmentStatistics{.links = 2, .sure = 2, .correct_sure = 1, .correct_possible = 2}));
}

TEST(AlignmentErrorRate, IsZeroForTheSureLinksWithAnyOfThePossibleOnes) {
  for (const char* links : {"0-0 3-3", "0-0 1-2 3-3", "0-0 2-2 3-3", "0-0 1-2 2-2 3-3"}) {
    EXPECT_EQ(score(links, "0-0 1?2 2?2 3-3").error_rate, 0) << links;
    EXPECT_EQ(score(links, "0-0 1?2 2?2 3-3").f1, 1) << links;
  }
  EXPECT_EQ(score("5-5", "0-0 1?2").error_rate, 1);
  EXPECT_EQ(score("", "0-0").error_rate, 1);
  EXPECT_EQ(score("0-0", "").error_rate, 1);
  EXPECT_EQ(score("", "0?0").error_rate, 0) << "nothing was wanted, nothing was given";
  EXPECT_EQ(score("", "").error_rate, 0);
  EXPECT_EQ(score("", "").precision, 0);
  EXPECT_EQ(score("", "").f1, 0);
}

TEST(AlignmentErrorRate, IsThatOfTheCountsOfAllSentences) {
  AlignmentStatistics sum = score("0-0 1-2", "0-0 1?2 3-3").statistics;
  sum += score("0-0 1-1 2-2", "0-0 1?1").statistics;
  EXPECT_EQ(sum, (AlignmentStatistics{.links = 5, .sure = 3, .correct_sure = 2, .correct_possible = 4}));
  EXPECT_DOUBLE_EQ(alignment_score_of(sum).error_rate, 1 - (2 + 4) / 8.0);
}

TEST(SoftAlignmentLinks, AreTheLargestWeightOfEachTargetWord) {
  // Two source words and </s>; three target words and </s>.
  const std::vector<float> weights = {0.7F, 0.2F, 0.1F,   //
                                      0.1F, 0.3F, 0.6F,   // looks at </s>: no link
                                      0.4F, 0.4F, 0.2F,   // a tie: the first
                                      0.0F, 1.0F, 0.0F};  // </s>
  const SoftAlignment alignment{weights, 3, 2, 3};
  EXPECT_EQ(argmax_links(alignment), (Links{{0, 0}, {0, 2}}));
  EXPECT_EQ(argmax_links({weights, 3, 3, 4}), (Links{{0, 0}, {0, 2}, {1, 3}, {2, 1}})) << "nothing left out";
  EXPECT_EQ(argmax_links({weights, 3, 0, 3}), Links{});
  EXPECT_EQ(argmax_links({weights, 3, 2, 0}), Links{});
  EXPECT_EQ(argmax_links({{}, 1, 0, 0}), Links{});
  const std::vector<float> none(4, 0.0F);
  EXPECT_EQ(argmax_links({none, 2, 2, 2}), Links{}) << "no weight, no link";
}

TEST(SoftAlignmentLinks, ReachTheThreshold) {
  const std::vector<float> weights = {0.5F, 0.5F,  0.0F,  //
                                      0.0F, 0.25F, 0.75F, 0.0F, 0.0F, 1.0F};
  const SoftAlignment alignment{weights, 3, 2, 2};
  EXPECT_EQ(threshold_links(alignment, 0.5F), (Links{{0, 0}, {1, 0}}));
  EXPECT_EQ(threshold_links(alignment, 0.25F), (Links{{0, 0}, {1, 0}, {1, 1}}));
  EXPECT_EQ(threshold_links(alignment, 0.51F), Links{});
  EXPECT_EQ(threshold_links({weights, 3, 3, 3}, 0.7F), (Links{{2, 1}, {2, 2}}));
}

}  // namespace
}  // namespace rnnsearch::evaluate

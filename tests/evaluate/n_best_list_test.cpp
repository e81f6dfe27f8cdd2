#include "rnnsearch/evaluate/n_best_list.h"

#include "rnnsearch/base/portable.h"
#include "rnnsearch/evaluate/alignment.h"
#include "tests/support/test.h"

namespace rnnsearch::evaluate {
namespace {

using Lines = std::vector<std::string>;

const Lines kMoses{"0 ||| a b ||| LogProbability= -1.5 Length= 3 ||| -0.5 ||| 0-0 1-1 ||| -1 -0.25 -0.25",
                   "0 |||  ||| LogProbability= -2 Length= 1 ||| -2 |||  ||| -2",
                   "1 ||| c ||| LogProbability= -0.25 Length= 2 ||| -0.125"};

TEST(NBestList, ReadsTheFieldsOfMosesAndWritesThemBackWithWhatWasAdded) {
  NBestList list = read_n_best_list(kMoses, "x.list");
  ASSERT_THAT(list.lines, ElementsAre(SizeIs(2), SizeIs(1)));
  EXPECT_THAT(list.features, ElementsAre("LogProbability", "Length"));
  EXPECT_EQ(list.lines[0][0].text, "a b");
  EXPECT_EQ(list.lines[0][1].text, "");
  EXPECT_THAT(list.lines[0][1].features, ElementsAre(-2, 1));
  EXPECT_THAT(list.lines[1][0].features, ElementsAre(-0.25, 2));
  for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(written(list, list.lines[0][k], k, std::nullopt), kMoses[k]);

  const std::vector<double> values{0.1, -3.5, 1.0 / 3};
  add_feature(list, "right", values);
  EXPECT_EQ(written(list, list.lines[0][0], 0, std::nullopt),
            "0 ||| a b ||| LogProbability= -1.5 Length= 3 right= 0.1 ||| -0.5 ||| 0-0 1-1 ||| -1 -0.25 -0.25");
  EXPECT_EQ(written(list, list.lines[0][1], 0, -7.25),
            "0 |||  ||| LogProbability= -2 Length= 1 right= -3.5 ||| -7.25 |||  ||| -2");
  const NBestList again = read_n_best_list(Lines{"0 ||| c ||| right= 0.3333333333333333 ||| 0"}, "x.list");
  EXPECT_EQ(again.lines[0][0].features[0], list.lines[1][0].features[2]);
  EXPECT_EQ(written(list, list.lines[1][0], 0, std::nullopt),
            "1 ||| c ||| LogProbability= -0.25 Length= 2 right= 0.3333333333333333 ||| -0.125");
}

TEST(NBestList, ReadsTheSameFeaturesFromJson) {
  NBestList list = read_n_best_list(
      Lines{R"({"line":0,"rank":1,"text":"a ||| b","score":-0.5,"log_probability":-1.5,"length":3,"words":["a"]})",
            R"({"line":1,"rank":1,"text":"c","score":-0.1,"log_probability":-0.25,"length":2,"words":["c"]})"},
      "x.list");
  EXPECT_THAT(list.features, ElementsAre("LogProbability", "Length"));
  EXPECT_EQ(list.lines[0][0].text, "a ||| b");
  EXPECT_THAT(list.lines[1][0].features, ElementsAre(-0.25, 2));
  const std::vector<double> values{0.1, -3};
  add_feature(list, "right", values);
  const std::string record = written(list, list.lines[0][0], 2, -9.5);
  EXPECT_EQ(record,
            R"({"line":0,"rank":3,"text":"a ||| b","score":-9.5,"log_probability":-1.5,"length":3,"words":["a"],)"
            R"("features":{"right":0.1}})");
  const NBestList again = read_n_best_list(Lines{record}, "x.list");
  EXPECT_THAT(again.features, ElementsAre("LogProbability", "Length", "right"));
  EXPECT_THAT(again.lines[0][0].features, ElementsAre(-1.5, 3, 0.1));
}

TEST(NBestList, NumbersTheValuesOfOneName) {
  const NBestList list = read_n_best_list(Lines{"0 ||| a ||| LM= -3 TM= -1 -2 ||| -6"}, "x.list");
  EXPECT_THAT(list.features, ElementsAre("LM", "TM.1", "TM.2"));
  EXPECT_THAT(list.lines[0][0].features, ElementsAre(-3, -1, -2));
}

TEST(NBestList, RefusesBrokenLinesByTheirNumber) {
  for (const auto& [line, said] :
       {std::pair{"0 ||| a ||| -1.5", "x.list, line 2: it has fewer than the four fields"},
        {"x ||| a ||| F= 1 ||| 1", "'x', not a line number"},
        {"2 ||| a ||| LogProbability= -1.5 Length= 3 ||| 1", "source line 2, but after those"},
        {"1 ||| a ||| b ||| LogProbability= -1.5 Length= 3 ||| 1", "begins with 'b'"},
        {"1 ||| a ||| LogProbability= nan Length= 3 ||| 1", "LogProbability is 'nan'"},
        {"1 ||| a ||| LogProbability= Length= 3 ||| 1", "LogProbability has no value"},
        {"1 ||| a ||| Length= 3 ||| 1", "its features are Length, but those of line 1 are"}}) {
    EXPECT_THAT(message_of([&, second = line] {
                  read_n_best_list(Lines{kMoses[0], second}, "x.list");
                }),
                HasSubstr(said));
  }
  EXPECT_THAT(message_of([&] { read_n_best_list(Lines{kMoses[2]}, "x.list"); }), HasSubstr("begins with line 0"));
  EXPECT_THAT(message_of([&] { read_n_best_list(Lines{R"({"line":0,"text":"a","length":"3"})"}, "x.list"); }),
              HasSubstr("line 1: feature Length is \"3\", not a number of at most"));
  EXPECT_THAT(message_of([&] { read_n_best_list(Lines{R"({"line":0})"}, "x.list"); }), HasSubstr("text"));
  const NBestList list = read_n_best_list(kMoses, "x.list");
  EXPECT_THAT(message_of([&] { check_line_count(list, "x.list", 3, "ref"); }),
              HasSubstr("2 source lines, but ref has 3"));
  EXPECT_THAT(message_of([&] {
                check_feature_names(list, Lines{"a", "Length"});
              }),
              HasSubstr("two features are named L"));
  EXPECT_THAT(message_of([&] { check_feature_names(list, Lines{"a b"}); }), HasSubstr("'a b' cannot be the name"));
}

TEST(Weights, ComeFromAFileAndGoToTheFeaturesOfTheirNames) {
  const NBestList list = read_n_best_list(kMoses, "x.list");
  const auto weights = read_weights(R"({"weights": {"Length": 2, "LogProbability": 0.5}, "bleu": 3})", "w.json");
  EXPECT_THAT(weights_of(list, "x.list", weights), ElementsAre(0.5, 2));
  EXPECT_THAT(weights_of(list, "x.list", std::vector<FeatureWeight>{{"Length", 1}, {"Length", -1}}),
              ElementsAre(0, -1));
  EXPECT_THAT(message_of([&] {
                weights_of(list, "x.list", std::vector<FeatureWeight>{{"left", 1}});
              }),
              HasSubstr("weight for left, but the features of x.list are LogProbability, Length"));
  EXPECT_THAT(message_of([] { read_weights("{}", "w.json"); }), HasSubstr("w.json has no object \"weights\""));
  EXPECT_THAT(message_of([] { read_weights(R"({"weights": {"a": null}})", "w.json"); }),
              HasSubstr("the weight of a is not"));
}

TEST(Ranking, PutsTheLargestSumFirstAndKeepsTheOrderOfEqualOnes) {
  const std::vector<Hypothesis> hypotheses{{"a", {1, 4}, ""}, {"b", {2, 3}, ""}, {"c", {0, 1}, ""}, {"d", {3, 2}, ""}};
  EXPECT_THAT(ranking(hypotheses, std::vector<double>{1, 0}), ElementsAre(3, 1, 0, 2));
  EXPECT_THAT(ranking(hypotheses, std::vector<double>{1, 1}), ElementsAre(0, 1, 3, 2));
  EXPECT_THAT(ranking(hypotheses, std::vector<double>{0, 0}), ElementsAre(0, 1, 2, 3));
}

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
  EXPECT_THAT(
      message_of([] { links_of("0-0 1x2", "links.txt, line 3"); }),
      AllOf(HasSubstr("links.txt, line 3, link 2: '1x2' is not a link"), HasSubstr("0-1"), Not(HasSubstr("possible"))));
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

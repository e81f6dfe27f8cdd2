#include "rnnsearch/evaluate/n_best_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace rnnsearch::evaluate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
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

}  // namespace
}  // namespace rnnsearch::evaluate

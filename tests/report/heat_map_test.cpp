#include "rnnsearch/report/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "report/html.h"
#include "rnnsearch/base/error.h"
#include "tests/report/picture.h"
#include "tests/support/message_of.h"

namespace rnnsearch::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

AttentionMatrix small() {
  return {{"the", "dog", "</s>"}, {"le", "</s>"}, {0.75, 0.25, 0, 0.125, 0, 0.875}};
}

TEST(HeatMap, HasASquareForEveryWeightFromBlackToWhite) {
  const Picture picture(heat_map({{"a", "b"}, {"x", "y", "z"}, {0, 1, 0.5, 0.5, 0.2, 0.8}}));
  std::vector<std::string> fills;
  for (const auto& square : picture.in("weights", "rect")) fills.push_back(square.attribute("fill").value());
  EXPECT_THAT(fills, ElementsAre("#000000", "#ffffff", "#808080", "#808080", "#333333", "#cccccc"));
}

TEST(HeatMap, PutsSourceWordsAcrossAndTargetWordsDown) {
  const Picture picture(heat_map(small()));
  EXPECT_THAT(picture.texts("source"), ElementsAre("the", "dog", "</s>"));
  EXPECT_THAT(picture.texts("target"), ElementsAre("le", "</s>"));
  const auto squares = picture.in("weights", "rect");
  ASSERT_EQ(squares.size(), 6u);
  const double side = squares[0].attribute("width").as_double();
  for (std::size_t k = 0; k < squares.size(); ++k) {
    EXPECT_NEAR(squares[k].attribute("x").as_double(),
                squares[0].attribute("x").as_double() + static_cast<double>(k % 3) * side, 0.02);
    EXPECT_NEAR(squares[k].attribute("y").as_double(),
                squares[0].attribute("y").as_double() + static_cast<double>(k / 3) * side, 0.02);
  }
}

TEST(HeatMap, TellsWordsAndWeightOfEachSquare) {
  EXPECT_THAT(Picture(heat_map(small())).tooltips("weights"),
              ElementsAre("the → le: 0.75", "dog → le: 0.25", "</s> → le: 0.00", "the → </s>: 0.12", "dog → </s>: 0.00",
                          "</s> → </s>: 0.88"));
}

TEST(HeatMap, CanBeEmbeddedManyTimesInOnePage) {
  pugi::xml_document page;
  add_heat_map(page, small());
  add_heat_map(page, small());
  const std::string svgs = html_of(page);
  for (const char* forbidden : {" id=", "url(#", "style=", "<style", "<script", "xlink:"}) {
    EXPECT_THAT(svgs, Not(HasSubstr(forbidden)));
  }
  EXPECT_THAT(heat_map(small()), HasSubstr("viewBox=\"0 0 "));
}

TEST(HeatMap, HoldsAnyWord) {
  const std::vector<std::string> words{"<b>&\"'",  "日本語",       "שלום", "👩‍👩‍👧", "]]>", "\x01\x1F",
                                       "\xFF\xC3", "\xED\xA0\x80", "",     "\xEF\xBF\xBE"};
  const Picture picture(heat_map({words, words, std::vector<double>(100, 0.1)}));
  EXPECT_THAT(picture.texts("source"), ElementsAre("<b>&\"'", "日本語", "שלום", "👩‍👩‍👧", "]]>",
                                                   "\uFFFD\uFFFD", "\uFFFD\uFFFD", "\uFFFD\uFFFD\uFFFD", "", "\uFFFD"));
  EXPECT_EQ(picture.texts("source"), picture.texts("target"));
}

/// Labels stand in margins that are wide enough for them, and nothing is drawn outside the sheet.
TEST(HeatMap, GivesLongWordsRoomUpToALimit) {
  const auto left_margin = [](const std::string& word) {
    const Picture picture(heat_map({{"a"}, {word}, {1}}));
    return picture.in("weights", "rect").front().attribute("x").as_double();
  };
  EXPECT_GT(left_margin("Alignment"), left_margin("a"));
  EXPECT_GT(left_margin("日本語日本語日本語"), left_margin("abcabcabc"));
  EXPECT_EQ(left_margin(std::string(60, 'x')), left_margin(std::string(3000, 'x')));

  const std::string word = "Donaudampfschiffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
  const Picture picture(heat_map({{word}, {word}, {1}}));
  for (const char* side : {"source", "target"}) {
    ASSERT_EQ(picture.texts(side).size(), 1u);
    EXPECT_TRUE(word.starts_with(picture.texts(side)[0].substr(0, 20)));
    EXPECT_TRUE(picture.texts(side)[0].ends_with("…"));
    EXPECT_THAT(picture.tooltips(side), ElementsAre(word));
  }
  picture.expect_all_inside();
  EXPECT_THAT(Picture(heat_map(small())).tooltips("source"), IsEmpty());
}

TEST(HeatMap, NeverCutsALetterFromItsMarks) {
  std::string word;
  for (int i = 0; i < 60; ++i) word += "e\u0301";  // e with an acute accent, as two code points
  std::string shown = Picture(heat_map({{word}, {"x"}, {1}})).texts("source")[0];
  ASSERT_TRUE(shown.ends_with("\u0301…")) << shown;
}

TEST(HeatMap, DrawsSentencesOfOneWordAndNone) {
  Picture(heat_map({{"</s>"}, {"</s>"}, {1}})).expect_all_inside();
  EXPECT_THAT(Picture(heat_map({{}, {}, {}})).in("weights", "rect"), IsEmpty());
  EXPECT_THAT(Picture(heat_map({{"</s>"}, {}, {}})).in("weights", "rect"), IsEmpty());
}

TEST(HeatMap, RefusesWhatIsNoAlignment) {
  EXPECT_THAT(message_of([] {
                heat_map({{"a", "b"}, {"x"}, {1}});
              }),
              HasSubstr("1 target words with 2 source words needs 2 weights but has 1"));
  EXPECT_THAT(message_of([] {
                heat_map({{"a", "b"}, {"x"}, {0.5, 1.5}});
              }),
              HasSubstr("target word 1 and source word 2 is 1.5"));
  EXPECT_THROW(heat_map({{"a"}, {"x"}, {std::numeric_limits<double>::quiet_NaN()}}), Error);
  EXPECT_THROW(heat_map({{"a"}, {"x"}, {-0.1}}), Error);
}

const AttentionMatrix kSmall{{"the", "<dog>", "</s>"}, {"le", "chien"}, {0.75, 0.25, 0, 0.125, 0.5, 0.375}};

std::vector<double> heights(const Picture& picture, const char* group) {
  std::vector<double> all;
  for (const auto& bar : picture.in(group, "rect")) all.push_back(bar.attribute("height").as_double());
  return all;
}

TEST(AttentionBars, AreAsHighAsTheWeights) {
  const Picture picture(attention_bars(kSmall, {.cell_pixels = 40}));  // 100 pixels a row
  EXPECT_THAT(heights(picture, "attention"), ElementsAre(75, 25, 0, 12.5, 50, 37.5));
  EXPECT_THAT(picture.tooltips("attention"),
              ElementsAre("the → le: 0.75", "<dog> → le: 0.25", "</s> → le: 0.00", "the → chien: 0.12",
                          "<dog> → chien: 0.50", "</s> → chien: 0.38"));
  const auto bars = picture.in("attention", "rect");
  for (std::size_t k = 0; k < 3; ++k) {  // those of a row stand on one line
    EXPECT_NEAR(bars[k].attribute("y").as_double() + bars[k].attribute("height").as_double(),
                bars[0].attribute("y").as_double() + bars[0].attribute("height").as_double(), 0.02);
  }
}

TEST(AttentionBars, OfAFixedContextAreAllOnTheLastSourceWord) {
  const Picture picture(attention_bars(kSmall, {.cell_pixels = 40}));
  EXPECT_THAT(heights(picture, "fixed-context"), ElementsAre(0, 0, 100, 0, 0, 100));
}

TEST(AttentionBars, RefuseWhatIsNoAlignment) {
  EXPECT_THROW(attention_bars({{"a", "b"}, {"x"}, {1}}), Error);
  Picture(attention_bars({{}, {}, {}})).expect_all_inside();
}

TEST(TerminalHeatMap, ShadesTheWeightsBetweenTheWords) {
  EXPECT_EQ(terminal_heat_map(kSmall),
            "        <\n"
            "        d <\n"
            "      t o /\n"
            "      h g s\n"
            "      e > >\n"
            "   le ██▒▒· \n"
            "chien ░░▓▓▒▒\n");
  EXPECT_EQ(terminal_heat_map({{}, {}, {}}), "");
}

}  // namespace
}  // namespace rnnsearch::report

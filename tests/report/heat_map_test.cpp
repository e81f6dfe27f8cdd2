#include "rnnsearch/report/heat_map.h"

#include <pugixml.hpp>

#include "report/html.h"
#include "tests/support/test.h"

namespace rnnsearch::report {
namespace {

/// An SVG read back by a parser.
class Picture {
 public:
  /// Throws when it is not well-formed, or no SVG.
  explicit Picture(const std::string& svg) {
    const auto result = document_.load_string(svg.c_str(), pugi::parse_default | pugi::parse_ws_pcdata_single);
    if (!result) throw std::runtime_error(std::string("not well-formed: ") + result.description() + "\n" + svg);
    if (std::strcmp(root().name(), "svg") != 0 || root().next_sibling()) throw std::runtime_error("not one svg");
  }
  pugi::xml_node root() const { return document_.first_child(); }

  /// All elements of this name in the groups of this class.
  std::vector<pugi::xml_node> in(const char* group, const char* element) const {
    std::vector<pugi::xml_node> found;
    for (const auto& node : root().children("g")) {
      if (std::strcmp(node.attribute("class").value(), group) != 0) continue;
      for (const auto& child : node.children(element)) found.push_back(child);
    }
    return found;
  }
  std::vector<std::string> texts(const char* group) const {
    std::vector<std::string> found;
    for (const auto& text : in(group, "text")) found.push_back(text.child_value());
    return found;
  }
  std::vector<std::string> tooltips(const char* group) const {
    std::vector<std::string> found;
    for (const char* element : {"rect", "text"})
      for (const auto& node : in(group, element))
        if (node.child("title")) found.push_back(node.child_value("title"));
    return found;
  }

  /// Every rectangle and every text's place lies on the sheet.
  void expect_all_inside() const {
    double x0, y0, width, height;
    std::istringstream(root().attribute("viewBox").value()) >> x0 >> y0 >> width >> height;
    const auto expect_inside = [&](double x, double y) {
      EXPECT_TRUE(x >= 0 && x <= width + 0.02 && y >= 0 && y <= height + 0.02) << x << " " << y;
    };
    for (const auto& found : root().select_nodes("//rect")) {
      const auto rect = found.node();
      const double x = rect.attribute("x").as_double(), y = rect.attribute("y").as_double();
      expect_inside(x, y);
      expect_inside(x + rect.attribute("width").as_double(), y + rect.attribute("height").as_double());
    }
    for (const auto& found : root().select_nodes("//text")) {
      const auto text = found.node();
      double x = text.attribute("x").as_double(), y = text.attribute("y").as_double();
      if (const auto transform = text.attribute("transform")) {
        ASSERT_EQ(std::sscanf(transform.value(), "translate(%lf %lf)", &x, &y), 2);
      }
      expect_inside(x, y);
    }
  }

 private:
  pugi::xml_document document_;
};

AttentionMatrix small() { return {{"the", "dog", "</s>"}, {"le", "</s>"}, {0.75, 0.25, 0, 0.125, 0, 0.875}}; }

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
  for (const char* forbidden : {" id=", "url(#", "style=", "<style", "<script", "xlink:"})
    EXPECT_THAT(svgs, Not(HasSubstr(forbidden)));
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
  Picture(attention_bars({{}, {}, {}})).expect_all_inside();
  EXPECT_THAT(Picture(heat_map({{}, {}, {}})).in("weights", "rect"), IsEmpty());
  EXPECT_THAT(Picture(heat_map({{"</s>"}, {}, {}})).in("weights", "rect"), IsEmpty());
}

const AttentionMatrix kSmall{{"the", "<dog>", "</s>"}, {"le", "chien"}, {0.75, 0.25, 0, 0.125, 0.5, 0.375}};

std::vector<double> heights(const Picture& picture, const char* group) {
  std::vector<double> all;
  for (const auto& bar : picture.in(group, "rect")) all.push_back(bar.attribute("height").as_double());
  return all;
}

TEST(AttentionBars, AreAsHighAsTheWeights) {
  const Picture picture(attention_bars(kSmall));  // 45 pixels a row
  EXPECT_THAT(heights(picture, "attention"), ElementsAre(33.75, 11.25, 0, 5.62, 22.5, 16.88));
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
  const Picture picture(attention_bars(kSmall));
  EXPECT_THAT(heights(picture, "fixed-context"), ElementsAre(0, 0, 45, 0, 0, 45));
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

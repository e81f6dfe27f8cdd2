#include "rnnsearch/report/chart_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <pugixml.hpp>
#include <string>

#include "rnnsearch/base/error.h"
#include "tests/support/message_of.h"
#include "tests/support/scratch.h"

namespace rnnsearch::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

LineChart chart_of(const std::string& text) {
  const Scratch scratch;
  std::ofstream(scratch / "chart.tsv") << text;
  return read_chart(scratch / "chart.tsv");
}
std::string refusal(const std::string& text) {
  return message_of([&] { chart_of(text); });
}

TEST(ReadChart, TakesAPlaceFromEachRowAndALineFromEachColumn) {
  const LineChart chart = chart_of("# medians\nlength\tpublished\tours\r\n10\t0.715\t0.71\n\n60\t\t0.9\n110\t0.5\n");
  EXPECT_EQ(chart.x.name, "length");
  EXPECT_THAT(chart.x.labels, ElementsAre("10", "60", "110"));
  ASSERT_EQ(chart.lines.size(), 2u);
  EXPECT_EQ(chart.lines[0].name, "published");
  ASSERT_EQ(chart.lines[0].points.size(), 2u) << "an empty field is no point";
  EXPECT_EQ(chart.lines[0].points[1].x, 2);
  EXPECT_EQ(chart.lines[0].points[1].y, 0.5);
  ASSERT_EQ(chart.lines[1].points.size(), 2u) << "nor is one that is not there";
  EXPECT_EQ(chart.lines[1].points[1].x, 1);
  EXPECT_EQ(chart.lines[1].points[1].y, 0.9);
}

TEST(ReadChart, RefusesWhatIsNoTableAndSaysWhere) {
  EXPECT_THAT(refusal(""), HasSubstr("there is no row"));
  EXPECT_THAT(refusal("length\tours\n"), HasSubstr("there is no row"));
  EXPECT_THAT(refusal("length\n10\n"), AllOf(HasSubstr("chart.tsv, line 1"), HasSubstr("names no line")));
  EXPECT_THAT(refusal("length\ta\ta\n"), HasSubstr("two lines are named 'a'"));
  EXPECT_THAT(refusal("length\ta\n10\t1\t2\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("3 fields, but the header has 2")));
  EXPECT_THAT(refusal("length\ta\n10\t1\n20\t1,5\n"), AllOf(HasSubstr("line 3"), HasSubstr("'1,5' is not a number")));
  EXPECT_THAT(refusal("length\ta\n10\tinf\n"), HasSubstr("'inf' is not a number"));
  EXPECT_THAT(refusal("length\ta\n\t1\n"), HasSubstr("no position on the axis"));
  EXPECT_THAT(message_of([] { read_chart("/no/such/chart.tsv"); }), HasSubstr("/no/such/chart.tsv"));
}

TEST(SvgFile, IsAPictureOfItsOwnWithTitleLegendAndEveryLine) {
  LineChart chart = chart_of("length\tpublished <1>\tours\tnothing\n10\t0.715\t0.71\t\n60\t0.8\t0.9\t\n");
  chart.title = "Medians & more";
  chart.y = {.name = "GeoMean", .from_zero = true};
  pugi::xml_document document;
  const std::string svg = svg_file_of(chart);
  ASSERT_TRUE(document.load_string(svg.c_str()));
  const pugi::xml_node root = document.child("svg");
  EXPECT_STREQ(root.attribute("xmlns").value(), "http://www.w3.org/2000/svg");
  EXPECT_STREQ(root.attribute("aria-label").value(), "Medians & more");
  EXPECT_TRUE(root.child("style")) << "colours are its own";
  EXPECT_TRUE(root.child("svg").select_node(".//g[@data-name='published <1>']"));
  EXPECT_TRUE(root.child("svg").select_node(".//g[@data-name='ours']"));
  EXPECT_EQ(root.select_nodes("./g[svg]").size(), 2u) << "a key for each line that has points";
  EXPECT_EQ(svg.find("http", svg.find("2000/svg") + 1), std::string::npos) << "it loads nothing";
}

}  // namespace
}  // namespace rnnsearch::report

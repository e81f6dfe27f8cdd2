#include "rnnsearch/report/line_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <pugixml.hpp>
#include <string>

#include "report/html.h"
#include "rnnsearch/base/error.h"
#include "tests/support/message_of.h"
#include "tests/support/scratch.h"

namespace rnnsearch::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

pugi::xml_document parsed(const std::string& svg) {
  pugi::xml_document document;
  const auto result = document.load_string(svg.c_str());
  EXPECT_TRUE(result) << result.description() << ": " << svg;
  return document;
}

std::string drawn(const LineChart& chart) {
  return svg_file([&](pugi::xml_node parent) { add_chart(parent, chart); });
}

LineChart chart_of(std::vector<Point> points) {
  LineChart chart{.title = "Loss", .x = {.name = "update"}, .y = {.name = "nats"}};
  chart.lines.push_back({.name = "search", .style = 0, .points = std::move(points)});
  return chart;
}

TEST(Chart, EscapesWhatItIsGivenAndReplacesWhatIsNoText) {
  LineChart chart = chart_of({{1, 2}, {2, 3}});
  chart.title = "a <script> & \"quotes\"";
  chart.lines[0].name = std::string("bad \xff\x01 <b>");
  const std::string svg = drawn(chart);
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
  const auto document = parsed(svg);
  EXPECT_STREQ(document.document_element().attribute("aria-label").value(), chart.title.c_str());
  EXPECT_STREQ(document.select_node("//g[@data-name]").node().attribute("data-name").value(), "bad \uFFFD\uFFFD <b>");
}

TEST(Chart, PutsPointsWhereItsAxesSayTheyAre) {
  const auto document = parsed(drawn(chart_of({{0, 0}, {50, 5}, {100, 10}})));
  const auto root = document.document_element();
  const double left = root.attribute("data-left").as_double(), right = root.attribute("data-right").as_double();
  const double top = root.attribute("data-top").as_double(), bottom = root.attribute("data-bottom").as_double();
  double x = 0, y = 0;
  const auto markers = document.select_nodes("//path[@class='marker']");
  ASSERT_EQ(markers.size(), 3u);
  // a circle begins at its left end, 4 units from its middle
  ASSERT_EQ(std::sscanf(markers[1].node().attribute("d").value(), "M%lf %lf", &x, &y), 2);
  EXPECT_NEAR(x + 4, (left + right) / 2, 0.02);
  EXPECT_NEAR(y, (top + bottom) / 2, 0.02);
  EXPECT_STREQ(markers[1].node().child("title").text().get(), "search, update 50: 5.000");
  EXPECT_STREQ(document.select_node("//g[@data-name]").node().attribute("data-y-text").value(), "0 5.000 10.00");
}

TEST(Chart, LeavesOutWhatCannotBeDrawn) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  LineChart chart = chart_of({{1, nan}, {2, 3}, {3, infinite}, {4, -1}, {5, 1e300}, {6, 4}});
  const auto x_of = [&] {
    return std::string(parsed(drawn(chart)).select_node("//g[@data-name]").node().attribute("data-x").value());
  };
  EXPECT_EQ(x_of(), "2.0 4.0 6.0");
  chart.y.scale = Scale::kLog;
  EXPECT_EQ(x_of(), "2.0 6.0");
  EXPECT_THAT(drawn(chart), Not(HasSubstr("nan")));
  EXPECT_THAT(drawn(chart_of({})), Not(HasSubstr("nan")));
  EXPECT_THAT(drawn(chart_of({{3, 0}})), Not(HasSubstr("nan")));
}

TEST(Chart, DrawsDoubtfulPointsHollowWithIntervalsAndCounts) {
  LineChart chart{.title = "BLEU", .x = {.name = "words"}, .y = {.name = "BLEU", .from_zero = true}};
  chart.x.labels = {"\u226410", ">10"};
  chart.x.notes = {"200", "9"};
  chart.lines.push_back({.name = "search", .style = 0, .points = {{0, 20, 18.0, 22.0}, {1, 10, 5.0, 14.0, true}}});
  const std::string svg = drawn(chart);
  const auto document = parsed(svg);
  EXPECT_EQ(document.select_nodes("//path[@class='marker']").size(), 1u);
  EXPECT_EQ(document.select_nodes("//path[@class='marker hollow']").size(), 1u);
  EXPECT_EQ(document.select_nodes("//path[@class='band']").size(), 1u);
  EXPECT_THAT(svg, HasSubstr("search, &gt;10: 10.00 [5.000, 14.00], few sentences"));
  EXPECT_TRUE(document.select_node("//text[@class='note' and .='9']"));
}

TEST(Chart, KeepsLongLinesSmall) {
  std::vector<Point> points;
  for (int i = 0; i < 200000; ++i) points.push_back({static_cast<double>(i), 2 + std::cos(i)});
  EXPECT_LT(drawn(chart_of(std::move(points))).size(), 60000u);
}

LineChart table_of(const std::string& text) {
  const Scratch scratch;
  std::ofstream(scratch / "chart.tsv") << text;
  return read_chart(scratch / "chart.tsv");
}
std::string refusal(const std::string& text) {
  return message_of([&] { table_of(text); });
}

TEST(ReadChart, TakesAPlaceFromEachRowAndALineFromEachColumn) {
  const LineChart chart = table_of("# medians\nlength\tpublished\tours\r\n10\t0.715\t0.71\n\n60\t\t0.9\n110\t0.5\n");
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
  LineChart chart = table_of("length\tpublished <1>\tours\tnothing\n10\t0.715\t0.71\t\n60\t0.8\t0.9\t\n");
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

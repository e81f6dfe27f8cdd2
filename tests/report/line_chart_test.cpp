#include "rnnsearch/report/line_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <pugixml.hpp>

#include "report/html.h"
#include "rnnsearch/base/error.h"
#include "tests/support/message_of.h"

namespace rnnsearch::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
  chart.lines[0].points.push_back({2, 1});
  EXPECT_THAT(message_of([&] { (void)drawn(chart); }), HasSubstr("2 places, but a point at 2"));
}

TEST(Chart, KeepsLongLinesSmall) {
  std::vector<Point> points;
  for (int i = 0; i < 200000; ++i) points.push_back({static_cast<double>(i), 2 + std::cos(i)});
  EXPECT_LT(drawn(chart_of(std::move(points))).size(), 60000u);
}

}  // namespace
}  // namespace rnnsearch::report

#include "rnnsearch/report/line_chart.h"

#include <pugixml.hpp>

#include "report/html.h"
#include "rnnsearch/report/table.h"
#include "tests/support/test.h"

namespace rnnsearch::report {
namespace {

std::vector<std::string> labels_of(const std::vector<double>& ticks) {
  std::vector<std::string> labels;
  for (const double tick : ticks) labels.push_back(tick_label(tick, ticks));
  return labels;
}

TEST(NiceTicks, AreRoundNumbersWithinBothEnds) {
  EXPECT_THAT(nice_ticks(0, 10, 6), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(nice_ticks(0.13, 0.61, 6), ElementsAre(0.2, 0.3, 0.4, 0.5, 0.6));
  EXPECT_THAT(nice_ticks(-30, 40, 5), ElementsAre(-20, 0, 20, 40));
  EXPECT_THAT(nice_ticks(7, 7, 5), ElementsAre(7));
}

TEST(NiceTicks, EndWhereDoublesAreTooFarApartForThem) {
  EXPECT_THAT(nice_ticks(1e16, 1e16 + 4, 6), ElementsAre(1e16));
  EXPECT_THAT(nice_ticks(5e-324, 1e-323, 6), ElementsAre(5e-324));
}

TEST(NiceTicks, AreAtMostSoManyForRangesOfAllSizes) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-12, 12), sign(-1, 1);
  for (int i = 0; i < 2000; ++i) {
    const double low = sign(random) * std::pow(10, exponent(random)), high = low + std::pow(10, exponent(random));
    const std::size_t most = 2 + static_cast<std::size_t>(i) % 8;
    if (!(low < high) || high - low < 1e-9 * std::abs(low)) continue;
    const auto ticks = nice_ticks(low, high, most);
    EXPECT_LE(ticks.size(), most) << low << " " << high;
    EXPECT_GE(2 * ticks.size() + 1, most / 2) << low << " " << high;
    for (const double tick : ticks) {
      EXPECT_GE(tick, low - 1e-6 * (high - low));
      EXPECT_LE(tick, high + 1e-6 * (high - low));
    }
  }
}

TEST(LogTicks, ArePowersOfTenOrTheirDoublesAndFives) {
  EXPECT_THAT(log_ticks(0.5, 20000, 6), ElementsAre(1, 10, 100, 1000, 10000));
  EXPECT_THAT(log_ticks(1, 60, 6), ElementsAre(1, 2, 5, 10, 20, 50));
  EXPECT_THAT(log_ticks(1e-5, 1e7, 5), ElementsAre(1e-5, 1e-2, 1e1, 1e4, 1e7));
  EXPECT_THAT(log_ticks(2.1, 2.9, 5), ElementsAre(2.2, 2.4, 2.6, 2.8));
}

TEST(TickLabel, HasTheDecimalsThatTellItFromItsNeighbours) {
  EXPECT_THAT(labels_of({0, 0.5, 1, 1.5}), ElementsAre("0", "0.5", "1.0", "1.5"));
  EXPECT_THAT(labels_of({0, 100000, 200000}), ElementsAre("0", "100,000", "200,000"));
  EXPECT_THAT(labels_of({0, 500000, 1000000}), ElementsAre("0", "0.5M", "1M"));
  EXPECT_THAT(labels_of({0, 0.0005, 0.001}), ElementsAre("0", "0.0005", "0.0010"));
  EXPECT_THAT(labels_of({0, 0.00002, 0.00004}), ElementsAre("0", "2e-05", "4e-05"));
  EXPECT_THAT(labels_of({0.1, 1, 10, 100}), ElementsAre("0.1", "1", "10", "100"));
}

TEST(Position, IsTheShareOfTheWayOnBothScales) {
  EXPECT_DOUBLE_EQ(position(15, 10, 20, Scale::kLinear), 0.5);
  EXPECT_DOUBLE_EQ(position(10, 1, 100, Scale::kLog), 0.5);
  EXPECT_DOUBLE_EQ(position(1, 1, 100, Scale::kLog), 0);
}

TEST(Thinned, KeepsEndsAndEveryExtremeInOrder) {
  std::vector<Point> points;
  for (int i = 0; i < 100000; ++i) points.push_back({static_cast<double>(i), std::sin(i * 0.001)});
  points[31416].y = 50;
  points[77777].y = -50;
  const auto thin = thinned(points, 600);
  EXPECT_LE(thin.size(), 600u);
  EXPECT_GE(thin.size(), 500u);
  EXPECT_EQ(thin.front().x, 0);
  EXPECT_EQ(thin.back().x, 99999);
  EXPECT_TRUE(std::is_sorted(thin.begin(), thin.end(), [](const Point& a, const Point& b) { return a.x < b.x; }));
  const auto has = [&](double x) {
    return std::any_of(thin.begin(), thin.end(), [x](const Point& point) { return point.x == x; });
  };
  EXPECT_TRUE(has(31416));
  EXPECT_TRUE(has(77777));
  for (std::size_t i = 1; i < thin.size(); ++i) EXPECT_LT(thin[i - 1].x, thin[i].x) << "a point twice";
}

TEST(Thinned, LeavesShortLinesAlone) {
  const std::vector<Point> points{{0, 3}, {1, 2}, {2, 5}, {3, 1}, {4, 4}};
  EXPECT_EQ(thinned(points, 5).size(), 5u);
  EXPECT_TRUE(thinned({}, 600).empty());
}

TEST(Smoothed, IsTheMeanOfTheNeighboursThereAre) {
  const auto means = smoothed(std::vector<Point>{{0, 1}, {1, 2}, {2, 6}, {3, 1}, {4, 9}}, 5);
  ASSERT_EQ(means.size(), 5u);
  EXPECT_DOUBLE_EQ(means[0].y, 1);
  EXPECT_DOUBLE_EQ(means[1].y, 3);
  EXPECT_DOUBLE_EQ(means[2].y, 3.8);
  EXPECT_DOUBLE_EQ(means[3].y, 4.5);
  EXPECT_DOUBLE_EQ(means[4].y, 16.0 / 3);
}

TEST(Smoothed, IsTheMeanOfEveryWindowOfALongLogWhateverSpikesStandElsewhere) {
  std::vector<Point> points(997);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = {static_cast<double>(i), i == 3 ? 1e30 : std::sin(static_cast<double>(i))};
  const auto means = smoothed(points, 101);
  ASSERT_EQ(means.size(), points.size());
  for (std::size_t i = 60; i < points.size(); ++i) {
    const std::size_t after = std::min<std::size_t>(50, points.size() - 1 - i);
    double sum = 0;
    for (std::size_t k = i - 50; k <= i + after; ++k) sum += points[k].y;
    EXPECT_NEAR(means[i].y, sum / static_cast<double>(51 + after), 1e-12) << i;
  }
}

TEST(Numbers, AreRoundedAndGroupedForReaders) {
  EXPECT_EQ(fixed(1234567.891, 2), "1,234,567.89");
  EXPECT_EQ(fixed(-1234, 0), "-1,234");
  EXPECT_EQ(fixed(-0.001, 2), "0.00");
  EXPECT_EQ(fixed(-123, 0), "-123");
  EXPECT_EQ(fixed(std::numeric_limits<double>::quiet_NaN(), 2), "-");
}

TEST(Numbers, KeepTheDigitsThatCount) {
  EXPECT_EQ(significant(3.21719, 4), "3.217");
  EXPECT_EQ(significant(0.00145095, 4), "0.001451");
  EXPECT_EQ(significant(9.9996, 4), "10.00");
  EXPECT_EQ(significant(12480.4, 4), "12,480");
  EXPECT_EQ(significant(1.5e-9, 3), "1.50e-09");
  EXPECT_EQ(significant(0, 4), "0");
}

TEST(Numbers, SayHowLongInTwoUnits) {
  EXPECT_EQ(duration(44.6), "45 s");
  EXPECT_EQ(duration(750), "12 min 30 s");
  EXPECT_EQ(duration(12000), "3 h 20 min");
  EXPECT_EQ(duration(187200), "2 d 4 h");
}

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
  return read_chart(write_text(scratch / "chart.tsv", text));
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

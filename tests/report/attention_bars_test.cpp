#include "rnnsearch/report/attention_bars.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rnnsearch/base/error.h"
#include "tests/report/picture.h"

namespace rnnsearch::report {
namespace {

using testing::ElementsAre;

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

}  // namespace
}  // namespace rnnsearch::report

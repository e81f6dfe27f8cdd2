#include "rnnsearch/evaluate/length_chart.h"

#include <gtest/gtest.h>

#include <sstream>

#include "rnnsearch/base/error.h"

namespace rnnsearch::evaluate {
namespace {

struct Point {
  double bleu = 0;
  std::size_t sentences = 500;
};

SystemEvaluation system(const std::string& name, const std::vector<std::string>& labels,
                        const std::vector<Point>& points) {
  SystemEvaluation system;
  system.system = name;
  for (std::size_t b = 0; b < labels.size(); ++b) {
    BucketScore bucket;
    bucket.label = labels[b];
    bucket.sentences = points[b].sentences;
    bucket.bleu.score = points[b].bleu;
    system.buckets.push_back(bucket);
  }
  return system;
}

const std::vector<std::string> kLabels{"up to 10", "11-20", "21-30", "31-40", "41-50", "51-60", "over 60"};

TEST(LengthChart, DrawsACurveASystemAndTheShareOfItsBestBucket) {
  Evaluation evaluation;
  evaluation.systems = {system("RNNsearch", kLabels, {{24.8}, {26.5}, {25.9}, {25.2}, {24.4}, {23.0}, {20.1, 37}}),
                        system("RNNencdec", kLabels, {{22.0}, {19.1}, {14.2}, {9.4}, {6.1}, {4.0}, {2.2, 37}})};
  EXPECT_EQ(fmt::format("\n{}", render_length_chart(evaluation)), R"(
BLEU by sentence length

  30 +
     |
     |            ...o.........o
  25 +     o......              .........o.........o.
     |                                               ........o.
     |     x....                                               ......
  20 +          .....                                                ..o
     |               x...
     |                   ...
  15 +                      ...x
     |                          ...
     |                             ....
  10 +                                 ..x
     |                                    .....
     |                                         ....x.
   5 +                                               ........
     |                                                       x........
     |                                                                .x
   0 +-----+---------+---------+---------+---------+---------+---------+----
       up to 10    11-20     21-30     31-40     41-50     51-60   over 60*
                                  reference words

o RNNsearch: BLEU as a share of its best bucket's (11-20: 26.50)
          94%      100%       98%       95%       92%       87%       76%
x RNNencdec: BLEU as a share of its best bucket's (up to 10: 22.00)
         100%       87%       65%       43%       28%       18%       10%
* fewer than 100 sentences: too few for a reliable score, and never taken as the best bucket
)");
}

TEST(LengthChart, PutsPointsOfOnePlaceSideBySideAndLeavesOutBucketsWithoutSentences) {
  const std::vector<std::string> labels{"up to 10", "11-20", "21-30", "over 30"};
  Evaluation evaluation;
  evaluation.length = LengthOf::kSource;
  evaluation.systems = {system("a", labels, {{4, 99}, {2, 99}, {0, 0}, {1, 99}}),
                        system("b", labels, {{4, 99}, {2, 99}, {0, 0}, {0, 99}}),
                        system("c", labels, {{0, 99}, {2, 99}, {0, 0}, {0, 99}})};
  const std::string chart = render_length_chart(evaluation);
  for (const char* part : {"   4 +         ox\n", "   2 +                           ox+\n", "   0 +---------+--",
                           "-x+-------\n", "             100%               50%                -                25%\n",
                           " source words\n", "too few for a reliable score\n"}) {
    EXPECT_NE(chart.find(part), std::string::npos) << part << chart;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(LengthChart, StaysWithinEightyColumnsOfPlainAscii) {
  std::vector<std::string> labels{"up to 10"};
  for (std::size_t edge = 20; edge <= 80; edge += 10) labels.push_back(fmt::format("{}-{}", edge - 9, edge));
  labels.push_back("over 80");  // nine buckets
  Evaluation evaluation;
  evaluation.length = LengthOf::kLongest;
  for (std::size_t s = 0; s < 7; ++s) {
    evaluation.systems.push_back(
        system(fmt::format("system {}", s), labels, std::vector<Point>(9, {60.0 + double(s), 1000})));
  }
  const std::string chart = render_length_chart(evaluation);
  for (const std::string& line : lines_of(chart)) EXPECT_LE(line.size(), 80u) << line;
  for (const char c : chart) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~'));
  // Short labels, because the long ones do not fit.
  EXPECT_NE(chart.find("\n        <=10    11-20 "), std::string::npos) << chart;
  EXPECT_NE(chart.find(">80\n"), std::string::npos) << chart;
  EXPECT_NE(chart.find("words of the longer side\n"), std::string::npos) << chart;
}

TEST(BestBucket, IsTheBestOfThoseWithEnoughSentences) {
  SystemEvaluation some = system("a", {"1", "2", "3", "4"}, {{90, 99}, {30, 100}, {40, 100}, {0, 0}});
  ASSERT_NE(best_bucket(some), nullptr);
  EXPECT_EQ(best_bucket(some)->label, "3");
  EXPECT_EQ(share_of_best(some, 0), 90.0 / 40);
  EXPECT_EQ(share_of_best(some, 1), 30.0 / 40);
  EXPECT_EQ(share_of_best(some, 2), 1);
  EXPECT_EQ(share_of_best(some, 3), std::nullopt);
  // When no bucket has enough, the best of all.
  some = system("a", {"1", "2", "3"}, {{30, 99}, {90, 1}, {95, 0}});
  EXPECT_EQ(best_bucket(some)->label, "2");
  some = system("a", {"1", "2"}, {{0, 200}, {0, 200}});
  EXPECT_EQ(share_of_best(some, 0), std::nullopt);
  some = system("a", {"1"}, {{0, 0}});
  EXPECT_EQ(best_bucket(some), nullptr);
}

}  // namespace
}  // namespace rnnsearch::evaluate

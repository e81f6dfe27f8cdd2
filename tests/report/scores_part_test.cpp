#include "report/scores_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rnnsearch/base/error.h"
#include "tests/support/message_of.h"

namespace rnnsearch::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

SystemEvaluation system(const std::string& name, double bleu, double psa) {
  SystemEvaluation scores;
  scores.system = name;
  scores.all.sentences = 1000;
  scores.all.bleu.score = bleu;
  scores.all.others.push_back({"PSA", psa, {}, {}, ""});
  return scores;
}

EvaluationFile round(const std::string& path, std::vector<SystemEvaluation> systems) {
  EvaluationFile file;
  file.path = path;
  file.systems = std::move(systems);
  return file;
}

std::vector<EvaluationFile> three_rounds() {
  return {round("1.json", {system("a", 50, 90), system("b", 10, 60)}), round("2.json", {system("a", 60, 96)}),
          round("3.json", {system("a", 70, 99), system("b", 20, 70)})};
}

std::vector<std::string> texts(const std::vector<Cell>& row) {
  std::vector<std::string> result;
  for (const Cell& cell : row) result.push_back(cell.text);
  return result;
}

TEST(RoundTables, GiveMeansWithTheirIntervalAndEveryRound) {
  const auto tables = round_tables(three_rounds());
  ASSERT_EQ(tables.size(), 3u);  // means, PSA, BLEU
  ASSERT_EQ(tables[0].rows.size(), 2u);
  // 95, deviation sqrt(21): 4.303 sqrt(21 / 3) = 11.38. Of two: 12.706 sqrt(50 / 2).
  EXPECT_THAT(texts(tables[0].rows[0]),
              ElementsAre("a", "3", "95.00 \u00b1 11.38", "90.00 to 99.00", "60.00 \u00b1 24.84", "50.00 to 70.00"));
  EXPECT_THAT(texts(tables[0].rows[1]),
              ElementsAre("b", "2", "65.00 \u00b1 63.53", "60.00 to 70.00", "15.00 \u00b1 63.53", "10.00 to 20.00"));
  EXPECT_EQ(tables[1].caption, "PSA of each round");
  EXPECT_THAT(texts(tables[1].rows[1]), ElementsAre("2", "96.00", "\u2013"));
  EXPECT_THAT(texts(tables[2].rows[2]), ElementsAre("3", "70.00", "20.00"));
}

TEST(RoundTables, AverageTheGeoMeanOfEachRound) {
  auto rounds = three_rounds();
  const double geometric[] = {70, 80, 84};
  for (std::size_t i = 0; i < 3; ++i) {
    rounds[i].sequence_accuracy = evaluate::SequenceAccuracyMode::kCut;
    rounds[i].systems[0].all.others.push_back({"GeoMean", geometric[i], {}, {}, ""});
  }
  const Table means = round_tables(rounds)[0];
  EXPECT_EQ(means.columns[4].title, "GeoMean");
  EXPECT_EQ(means.rows[0][4].text, "78.00 \u00b1 17.91");  // deviation sqrt(52): 4.303 sqrt(52 / 3)
  EXPECT_EQ(means.rows[0][5].text, "70.00 to 84.00");
  EXPECT_EQ(means.notes.back(), evaluate::legend_of(evaluate::SequenceAccuracyMode::kCut) + ".");
}

TEST(RoundTables, SayNoIntervalOfOneRoundAndNothingOfNone) {
  const auto rounds = three_rounds();
  EXPECT_EQ(round_tables({rounds[0]})[0].rows[0][2].text, "90.00");
  EXPECT_TRUE(round_tables({}).empty());
}

TEST(CheckSameTest, RefusesRoundsOfOtherSentences) {
  auto rounds = three_rounds();
  EXPECT_NO_THROW(check_same_test(rounds));
  EXPECT_NO_THROW(check_same_test({}));
  rounds[2].systems.front().all.sentences = 999;
  EXPECT_THAT(message_of([&] { check_same_test(rounds); }), AllOf(HasSubstr("3.json and 1.json"), HasSubstr("rounds")));
}

}  // namespace
}  // namespace rnnsearch::report

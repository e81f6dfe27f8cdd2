#include "report/page_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rnnsearch/base/error.h"
#include "tests/support/message_of.h"

namespace rnnsearch::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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

// Lines with the sentence BLEU of two systems.
EvaluationFile evaluation_of(const std::vector<std::pair<double, double>>& scores) {
  EvaluationFile file;
  file.systems.resize(2);
  file.systems[0].system = "a";
  file.systems[1].system = "b";
  for (const auto& [a, b] : scores) {
    SentenceEvaluation sentence;
    sentence.line = file.sentences.size() + 1;
    sentence.references = {"one two three four five six"};
    sentence.systems = {{"a", "x", a, {}}, {"b", "y", b, {}}};
    file.sentences.push_back(sentence);
  }
  return file;
}

std::vector<std::size_t> chosen(const std::vector<Choice>& choices, const std::string& title) {
  for (const Choice& choice : choices) {
    if (choice.title == title) return choice.sentences;
  }
  return {};
}

TEST(ChosenSentences, AreTheLargestDifferencesTheBestAndTheWorst) {
  const auto choices = chosen_sentences(evaluation_of({{10, 10}, {50, 10}, {20, 90}, {60, 55}, {0, 5}}), 2);
  EXPECT_THAT(chosen(choices, "a furthest ahead"), ElementsAre(1u, 3u));
  EXPECT_THAT(chosen(choices, "b furthest ahead"), ElementsAre(2u, 4u));
  EXPECT_THAT(chosen(choices, "a at its best"), ElementsAre(3u, 1u));
  EXPECT_THAT(chosen(choices, "a at its worst"), ElementsAre(4u, 0u));
  EXPECT_THAT(chosen(choices, "b at its best"), ElementsAre(2u, 3u));
}

TEST(ChosenSentences, AreTheFirstAmongEquals) {
  const auto choices = chosen_sentences(evaluation_of({{0, 0}, {0, 0}, {0, 0}}), 2);
  EXPECT_THAT(chosen(choices, "a at its worst"), ElementsAre(0u, 1u));
  EXPECT_TRUE(chosen(choices, "a furthest ahead").empty());
}

TEST(ChosenSentences, HaveAtLeastFiveWords) {
  EvaluationFile file = evaluation_of({{90, 0}, {40, 0}});
  file.sentences[0].references = {"only four words here"};
  EXPECT_THAT(chosen(chosen_sentences(file, 2), "a at its best"), ElementsAre(1u));
  file.sentences[0].references = {"\u6211\u4eec\u5728\u8fd9\u91cc"};  // Chinese: letters are words
  file.systems[0].signature = "nrefs:1|tok:zh|smooth:exp";
  EXPECT_THAT(chosen(chosen_sentences(file, 2), "a at its best"), ElementsAre(0u, 1u));
}

std::string marked(const std::string& hypothesis, const std::vector<std::string>& references) {
  std::string text;
  for (const TextPiece& piece : compared(hypothesis, references)) {
    text += piece.missing ? "{" + piece.text + "}" : piece.text;
  }
  return text;
}

TEST(Compared, MarksWordsThatNoReferenceHasOrNotAsOften) {
  EXPECT_EQ(marked("the cat sat, the end", {"the cat sat."}), "the cat sat, {the} {end}");
  EXPECT_EQ(marked("the the dog", {"the cat", "the the end"}), "the the {dog}");
  EXPECT_EQ(marked("l'\u00e9t\u00e9 <unk>", {"l'\u00e9t\u00e9 vient"}), "l'\u00e9t\u00e9 {<unk>}");
  EXPECT_EQ(marked("", {"x"}), "");
}

}  // namespace
}  // namespace rnnsearch::report

#include "report/sentences_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rnnsearch::report {
namespace {

using ::testing::ElementsAre;

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

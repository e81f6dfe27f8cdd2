#include "rnnsearch/report/evaluation_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "rnnsearch/base/json.h"
#include "rnnsearch/evaluate/evaluation.h"
#include "rnnsearch/report/page.h"
#include "tests/support/message_of.h"
#include "tests/support/scratch.h"

namespace rnnsearch::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Json row(const std::string& label, int sentences, double bleu) {
  return Json::object({{"label", label},
                       {"sentences", sentences},
                       {"reliable", sentences >= 100},
                       {"bleu", bleu},
                       {"low", bleu - 1},
                       {"high", bleu + 1},
                       {"ratio", 0.9}});
}

Json system(const std::string& name, double bleu) {
  return Json::object({{"system", name},
                       {"signature", "tok:13a"},
                       {"all", row("all", 200, bleu)},
                       {"without_unknown_words", Json()},
                       {"buckets", Json::array({row("up to 10", 150, bleu), row("over 10", 50, bleu / 2)})}});
}

Json sentence(int line, const std::string& name, double bleu) {
  Json json = Json::object(
      {{"line", line}, {"source", "a source"}, {"references", Json::array({"a reference"})}, {"bucket", "up to 10"}});
  json["systems"][name] = Json::object({{"hypothesis", "words"}, {"bleu", bleu}});
  return json;
}

Json evaluation(const std::string& name, double bleu) {
  return Json::object({{"format", "rnnsearch-evaluation"},
                       {"format_version", 1},
                       {"created_by", "rnnsearch-0.1.0"},
                       {"set", "test/news"},
                       {"references", 1},
                       {"length", "reference"},
                       {"edges", Json::array({10})},
                       {"bootstrap", Json::object({{"samples", 1000}, {"seed", 12345}})},
                       {"systems", Json::array({system(name, bleu)})},
                       {"sentences", Json::array({sentence(1, name, bleu), sentence(2, name, bleu)})}});
}

class EvaluationFileTest : public ::testing::Test {
 protected:
  EvaluationFile read(const std::string& text, const std::string& name = "one.json") {
    std::ofstream(scratch_ / name) << text;
    return read_evaluation(scratch_ / name);
  }
  EvaluationFile read(const Json& json, const std::string& name = "one.json") { return read(json_text(json), name); }
  std::string refusal(const std::string& text) {
    return message_of([&] { read(text); });
  }
  std::string refusal(const char* text) { return refusal(std::string(text)); }
  std::string refusal(const Json& json) { return refusal(json_text(json)); }
  Scratch scratch_;
};

TEST_F(EvaluationFileTest, ReadsWhatItHolds) {
  const EvaluationFile file = read(evaluation("search", 20));
  ASSERT_EQ(file.systems.size(), 1u);
  EXPECT_EQ(file.set, "test/news");
  EXPECT_EQ(file.bootstrap.value().samples, 1000u);
  EXPECT_FALSE(file.systems[0].without_unknown_words);
  ASSERT_EQ(file.systems[0].buckets.size(), 2u);
  EXPECT_FALSE(file.systems[0].buckets[1].reliable());
  EXPECT_EQ(file.systems[0].buckets[1].high, 11);
  ASSERT_EQ(file.sentences.size(), 2u);
  EXPECT_EQ(file.sentences[0].systems[0].bleu, 20);
}

TEST_F(EvaluationFileTest, ReadsWhatEvaluateWrote) {
  const std::vector<std::vector<std::string>> references{{"a b c d e", "a b c d f"}};
  const std::vector<std::string> right = references[0], nothing{"", ""};
  const evaluate::SystemOutput systems[] = {{"nothing", nothing}, {"right", right}};
  evaluate::EvaluationOptions options;
  options.ter = true;
  options.significance = {evaluate::SignificanceTest::kBootstrap, 100, 18446744073709551615u};
  options.bootstrap.seed = options.significance.seed;
  for (const std::size_t samples : {100u, 0u}) {
    options.bootstrap.samples = samples;
    const auto written = evaluate::evaluate({{}, references, {}, {}, {}, nullptr}, systems, options);
    const EvaluationFile file = read(evaluate::to_json(written));
    for (std::size_t s = 0; s < 2; ++s) {
      const SystemEvaluation& scores = file.systems[s];
      EXPECT_EQ(scores.all.low, samples > 0 ? std::optional(scores.all.bleu.score) : std::nullopt);
      EXPECT_EQ(scores.all.high, scores.all.low);
      EXPECT_EQ(scores.all.others[0].low, samples > 0 ? std::optional(scores.all.others[0].score) : std::nullopt);
      EXPECT_FALSE(scores.buckets.back().low);
    }
    EXPECT_EQ(file.systems[0].all.bleu.score, 0);
    EXPECT_EQ(file.systems[1].all.others[0].score, 0);  // TER
    EXPECT_FALSE(file.comparisons.at(0).p);
    EXPECT_EQ(file.comparisons.at(0).seed, 18446744073709551615u);
    Report report;
    report.evaluations = {file};
    const std::string page = html_page(report);
    EXPECT_EQ(page.find("0.00 [0.00, 0.00]") != page.npos, samples > 0);
    EXPECT_EQ(page.find("in brackets: 95% bootstrap intervals") != page.npos, samples > 0);
    EXPECT_EQ(page.find("p &lt; 0.05, ** with"), page.npos);  // nothing is marked
    const auto files = csv_files(report);
    EXPECT_NE(files.at(1).content.find(samples > 0 ? ",nothing,BLEU,0.0,0.0,0.0," : ",nothing,BLEU,0.0,,,"), page.npos)
        << files.at(1).content;
  }
}
struct Spoilt {
  std::string member;
  bool missing;  // else of another kind
  Json whole;
};

// The value once without each of its members, wherever they stand, and once with another value in their place.
std::vector<Spoilt> spoilt(const Json& json) {
  std::vector<Spoilt> all;
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) {
      Json without = Json::object(), other = json;
      for (const auto& [other_name, other_value] : json.items()) {
        if (other_name != name) without[other_name] = other_value;
      }
      other[name] = value.is_string() ? Json(3) : Json("text");
      all.push_back({name, true, without});
      all.push_back({name, false, other});
      for (const Spoilt& inner : spoilt(value)) {
        Json outer = json;
        outer[name] = inner.whole;
        all.push_back({inner.member, inner.missing, outer});
      }
    }
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      for (const Spoilt& inner : spoilt(json[i])) {
        Json items = json;
        items[i] = inner.whole;
        all.push_back({inner.member, inner.missing, items});
      }
    }
  }
  return all;
}

TEST_F(EvaluationFileTest, RefusesEveryMemberThatIsMissingOrOfAnotherKind) {
  const std::vector<std::string> unread{"created_by", "reliable"};
  // "sentences" counts those of a row, which is needed, and is the list of the file, which is not.
  const std::vector<std::string> optional{"set",       "bootstrap", "seed",   "without_unknown_words",
                                          "sentences", "source",    "bucket", "search"};
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  int refused = 0;
  for (const Spoilt& one : spoilt(evaluation("search", 20))) {
    if (has(unread, one.member) || (one.missing && has(optional, one.member))) continue;
    EXPECT_THAT(refusal(one.whole), HasSubstr("one.json")) << one.member << (one.missing ? " missing" : " replaced");
    ++refused;
  }
  EXPECT_GT(refused, 40);
}

TEST_F(EvaluationFileTest, RefusesScoresThatAreNone) {
  Json json = evaluation("search", 20);
  json["systems"] = Json::array({system("search", 200)});
  EXPECT_THAT(refusal(json), AllOf(HasSubstr("systems, entry 1, all, bleu"), HasSubstr("200"), HasSubstr("0 to 100")));
  json["systems"] = Json::array();
  EXPECT_THAT(refusal(json), HasSubstr("systems is empty"));
  json["systems"] = Json::array({system("search", 20), system("search", 20)});
  EXPECT_THAT(refusal(json), HasSubstr("entry 2 has the name of another system"));
}

TEST_F(EvaluationFileTest, PutsSystemsOfTheSameSentencesSideBySide) {
  const auto groups = merged({read(evaluation("search", 20)), read(evaluation("encdec", 10), "two.json")});
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].systems.size(), 2u);
  ASSERT_EQ(groups[0].sentences.size(), 2u);
  EXPECT_EQ(groups[0].sentences[1].systems.size(), 2u);
  EXPECT_EQ(groups[0].sentences[1].systems[1].system, "encdec");
}

TEST_F(EvaluationFileTest, KeepsOtherSentencesApart) {
  Json other_set = evaluation("encdec", 10), other_references = evaluation("encdec", 10);
  other_set["set"] = "test/web";
  other_references["sentences"] = Json();
  for (const Json& other : {other_set, other_references}) {
    EXPECT_EQ(merged({read(evaluation("search", 20)), read(other, "two.json")}).size(), 2u) << json_text(other);
  }
}

Json with_accuracy(const std::string& name, const Json& output) {
  Json json = evaluation(name, 20), one = system(name, 20);
  for (const char* metric : {"PSA", "LCSR", "GeoMean"}) one[metric] = Json::object({{"score", 50}, {"signature", "s"}});
  json["systems"] = Json::array({one});
  json["sequence_accuracy"] = output;
  return json;
}

TEST_F(EvaluationFileTest, ReadsWhetherOutputsWereCutForSequenceAccuracy) {
  const EvaluationFile file = read(with_accuracy("search", "cut"));
  EXPECT_EQ(file.sequence_accuracy, evaluate::SequenceAccuracyMode::kCut);
  ASSERT_EQ(file.systems[0].all.others.size(), 3u);
  EXPECT_EQ(file.systems[0].all.others[2].metric, "GeoMean");
  EXPECT_EQ(read(evaluation("search", 20)).sequence_accuracy, evaluate::SequenceAccuracyMode::kNone);
  EXPECT_THAT(refusal(with_accuracy("search", Json())),
              AllOf(HasSubstr("one.json"), HasSubstr("does not say whether outputs were cut"),
                    HasSubstr("evaluate --sequence-accuracy")));
  EXPECT_THAT(refusal(with_accuracy("search", "half")), HasSubstr("is \"half\", but must be none or whole or cut"));
}

TEST_F(EvaluationFileTest, KeepsAccuracyOfCutAndOfWholeOutputsApart) {
  const auto cut = read(with_accuracy("a", "cut"), "cut.json"), whole = read(with_accuracy("b", "whole"), "whole.json");
  const auto none = read(evaluation("c", 20), "none.json");
  EXPECT_EQ(merged({cut, whole}).size(), 2u);
  const auto groups = merged({none, cut, whole});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].systems.size(), 2u);
  EXPECT_EQ(groups[0].sequence_accuracy, evaluate::SequenceAccuracyMode::kCut);
  EXPECT_NO_THROW(check_same_test({none, cut}));
  EXPECT_THAT(message_of([&] {
                check_same_test({none, cut, whole});
              }),
              AllOf(HasSubstr("whole.json and "), HasSubstr("cut.json"), HasSubstr("options")));
}

TEST_F(EvaluationFileTest, TellsSystemsOfOneNameApartByTheirFiles) {
  const auto groups = merged({read(evaluation("search", 20)), read(evaluation("search", 10), "two.json")});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].systems[1].system, "search (two)");
  EXPECT_EQ(groups[0].sentences[0].systems[1].system, "search (two)");
  std::filesystem::create_directory(scratch_ / "b");
  EXPECT_THAT(message_of([&] {
                (void)merged({read(evaluation("search", 20)), read(evaluation("search", 10), "two.json"),
                              read(evaluation("search", 10), "b/two.json")});
              }),
              HasSubstr("both score a system named search"));
}

}  // namespace
}  // namespace rnnsearch::report

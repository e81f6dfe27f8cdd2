#include "rnnsearch/evaluate/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "rnnsearch/base/version.h"
#include "rnnsearch/text/unicode.h"
#include "tests/evaluate/two_systems.h"

namespace rnnsearch::evaluate {
namespace {

using Lines = std::vector<std::string>;

TEST(ToJson, IsOneObjectOfAllThatIsKnown) {
  EvaluationOptions options = with_edges();
  options.chrf = options.by_unknown_share = options.by_rarest_word = options.words_by_frequency = options.sentences =
      true;
  options.significance = {SignificanceTest::kBootstrap, 100, 12345};
  const TwoSystems corpus;
  const Evaluation evaluation = corpus.evaluate(options);
  const Json json = parse_json(json_text(to_json(evaluation)), "test");
  const auto holds = [](const Json& object, const char* members) {
    const Json expected = parse_json(members, "expected");
    for (const auto& [name, value] : as_object(expected).items())
      EXPECT_EQ(json_text(object.at(name)), json_text(value)) << name;
  };
  holds(json,
        R"({"format":"rnnsearch-evaluation","format_version":1,"set":"test/news","references":1,"length":"reference",
                  "length_tokenizer":"13a","edges":[10,20],"bootstrap":{"samples":1000,"seed":12345}})");
  EXPECT_EQ(as_string(json.at("created_by")), kCreatedBy);

  const Json& system = as_array(json.at("systems")).at(1);
  EXPECT_EQ(as_string(system.at("signature")), evaluation.systems[1].signature);
  holds(system, R"({"system":"Système 2","best_bucket":"up to 10"})");  // of one sentence, 11-20 is better
  const Json& all = system.at("all");
  const BucketScore& score = evaluation.systems[1].all;
  holds(all, R"({"label":"all","sentences":121,"reliable":true})");
  EXPECT_EQ(as_number(all.at("bleu")), score.bleu.score);
  EXPECT_EQ(as_number(all.at("low")), *score.low);
  EXPECT_EQ(as_number(all.at("high")), *score.high);
  EXPECT_EQ(as_number(all.at("ratio")), score.bleu.ratio);
  EXPECT_EQ(as_number(all.at("chrF").at("low")), *score.others[0].low);
  EXPECT_EQ(as_array(system.at("buckets")).size(), 3u);
  holds(as_array(system.at("buckets"))[1], R"({"label":"11-20"})");
  const auto& shares = as_array(system.at("shares_of_best_bucket"));
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_EQ(as_number(shares[0]), 1);
  EXPECT_GT(as_number(shares[1]), 1);
  EXPECT_TRUE(shares[2].is_null());
  holds(system.at("without_unknown_words"), R"({"sentences":0})");
  EXPECT_EQ(as_array(system.at("by_unknown_share")).size(), 5u);
  holds(as_array(system.at("by_rarest_word"))[2], R"({"sentences":121})");
  holds(as_array(system.at("words_by_frequency")).at(0),
        R"({"label":"unknown","words":121,"precision":1.0,"recall":1.0,"f1":1.0})");
  EXPECT_NE(as_string(system.at("chrF++").at("signature")).find("nc:6"), std::string::npos);

  ASSERT_EQ(as_array(json.at("comparisons")).size(), 9u);  // three metrics of all, and of two buckets
  const Json& comparison = as_array(json.at("comparisons"))[0];
  holds(comparison, R"({"method":"bootstrap","baseline":"RNNsearch","system":"Système 2","metric":"BLEU","row":"all",
                        "samples":100,"seed":12345})");
  EXPECT_NEAR(as_number(comparison.at("difference")), score.bleu.score - 100, 1e-9);
  EXPECT_EQ(as_number(comparison.at("p")), 1.0 / 101);

  ASSERT_EQ(as_array(json.at("sentences")).size(), 121u);
  const Json& sentence = as_array(json.at("sentences"))[120];
  holds(sentence,
        R"({"line":121,"source":"s","references":["a b c d e f g h i j k"],"bucket":"11-20","unknown_share":0.5})");
  EXPECT_NEAR(as_number(sentence.at("systems").at("RNNsearch").at("bleu")), 100, 1e-9);
  holds(sentence.at("systems").at("Système 2"), R"({"hypothesis":"a b c d e f g h i j k z"})");
}

TEST(ToJson, HasNullForWhatThereIsNot) {
  const std::vector<Lines> references{{"a b c d e", "f"}};
  const Lines right = references[0], nothing{"", ""};
  const SystemOutput systems[] = {{"right", right}, {"nothing", nothing}};
  EvaluationOptions options = with_edges();
  options.ter = true;
  options.significance = {SignificanceTest::kBootstrap, 100, 12345};
  const Json json = to_json(evaluate({{}, references, {}, {}, {}, {}}, systems, options));
  const Json& system = as_array(json.at("systems"))[1];
  EXPECT_EQ(system.at("all").at("low"), Json(0.0));
  EXPECT_EQ(system.at("all").at("high"), Json(0.0));
  const Json& empty = as_array(system.at("buckets"))[2];  // over 20 words
  for (const char* name : {"bleu", "low", "high", "ratio", "precisions", "brevity_penalty"}) {
    EXPECT_TRUE(empty.at(name).is_null()) << name;
    EXPECT_FALSE(system.at("all").at(name).is_null()) << name;
  }
  for (const char* name : {"score", "low", "high"}) EXPECT_TRUE(empty.at("TER").at(name).is_null()) << name;
  for (const Json& comparison : as_array(json.at("comparisons"))) EXPECT_TRUE(comparison.at("p").is_null());
  EXPECT_FALSE(as_array(json.at("comparisons")).empty());
}

TEST(ToJson, LeavesOutWhatWasNotAskedFor) {
  EvaluationOptions options = with_edges();
  options.bootstrap.samples = 0;
  Evaluation evaluation = TwoSystems().evaluate(options);
  evaluation.set.reset();
  evaluation.systems[0].without_unknown_words.reset();
  const Json json = to_json(evaluation);
  EXPECT_TRUE(json.at("set").is_null());
  EXPECT_TRUE(json.at("bootstrap").is_null());
  EXPECT_EQ(find_member(json, "comparisons"), nullptr);
  EXPECT_EQ(find_member(json, "sentences"), nullptr);
  const Json& system = as_array(json.at("systems"))[0];
  EXPECT_TRUE(system.at("without_unknown_words").is_null());
  for (const char* name : {"by_unknown_share", "by_rarest_word", "words_by_frequency", "chrF"}) {
    EXPECT_EQ(find_member(system, name), nullptr) << name;
  }
}

TEST(FromJson, GivesTheEvaluationThatWasWritten) {
  EvaluationOptions options = with_edges();
  options.chrf = options.ter = options.by_unknown_share = options.by_rarest_word = options.words_by_frequency =
      options.sentences = true;
  options.sequence_accuracy = SequenceAccuracyMode::kCut;
  options.length_tokenizer = text::BleuTokenizer::kChar;
  options.significance = {SignificanceTest::kBootstrap, 100, 18446744073709551615u};
  for (const std::size_t samples : {100u, 0u}) {
    options.bootstrap.samples = samples;
    Evaluation evaluation = TwoSystems().evaluate(options);
    evaluation.source_language = "en";
    const Json json = to_json(evaluation);
    EXPECT_EQ(json_text(to_json(from_json(json, "one.json")), 1), json_text(json, 1));
  }
}

}  // namespace
}  // namespace rnnsearch::evaluate

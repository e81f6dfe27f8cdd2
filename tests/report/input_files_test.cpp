#include "rnnsearch/report/input_files.h"

#include <nlohmann/json.hpp>

#include "report/page_parts.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/evaluate/evaluation.h"
#include "rnnsearch/report/page.h"
#include "tests/support/test.h"

namespace rnnsearch::report {
namespace {

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

class EvaluationFileTest : public ScratchTest {
 protected:
  EvaluationFile read(const std::string& text, const std::string& name = "one.json") {
    return read_evaluation(write_text(scratch_ / name, text));
  }
  EvaluationFile read(const Json& json, const std::string& name = "one.json") { return read(json_text(json), name); }
  std::string refusal(const std::string& text) {
    return message_of([&] { read(text); });
  }
  std::string refusal(const char* text) { return refusal(std::string(text)); }
  std::string refusal(const Json& json) { return refusal(json_text(json)); }
};

TEST_F(EvaluationFileTest, ReadsWhatEvaluateWrote) {
  const std::vector<std::vector<std::string>> references{{"a b c d e", "a b c d f"}};
  const std::vector<std::string> right = references[0], nothing{"", ""};
  const evaluate::SystemOutput systems[] = {{"nothing", nothing}, {"right", right}};
  evaluate::EvaluationOptions options;
  options.ter = true;
  options.significance = {evaluate::SignificanceTest::kBootstrap, 100};
  options.bootstrap.seed = 18446744073709551615u;
  for (const std::size_t samples : {100u, 0u}) {
    options.bootstrap.samples = samples;
    const auto written = evaluate::evaluate({{}, references, {}, {}, {}, {}}, systems, options);
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
      for (const auto& [other_name, other_value] : json.items())
        if (other_name != name) without[other_name] = other_value;
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

class AlignmentFileTest : public ScratchTest {
 protected:
  AlignmentFile read(const std::string& sentence, const std::string& version = "1") {
    return read_alignment(write_text(scratch_ / "a.json", R"({"format":"rnnsearch-alignment","format_version":)" +
                                                              version + R"(,"model":"runs/search","sentences":[)" +
                                                              sentence + "]}"));
  }
  std::string refusal(const std::string& sentence, const std::string& version = "1") {
    return message_of([&] { read(sentence, version); });
  }
};

TEST_F(AlignmentFileTest, ReadsMatricesRowByRow) {
  const auto file = read(
      R"({"line":7,"source":["a","b"],"target":["x","y","z"],"alignment":[[1,0],[0.25,0.75],[0,1]],"log_probability":-2.5})");
  ASSERT_EQ(file.sentences.size(), 1u);
  EXPECT_EQ(file.sentences[0].line, 7u);
  EXPECT_EQ(file.sentences[0].log_probability, -2.5);
  EXPECT_THAT(file.sentences[0].alignment.weights, ElementsAre(1, 0, 0.25, 0.75, 0, 1));
}

TEST_F(AlignmentFileTest, ReadsWhatAnExperimentAddedToIt) {
  std::ofstream(scratch_ / "b.json")
      << R"({"format":"rnnsearch-alignment","format_version":1,"note":"by lot","sentences":[)"
      << R"_({"line":1,"label":"(a)","source":["a"],"target":["x"],"alignment":[[1]]}]})_";
  const auto file = read_alignment(scratch_ / "b.json");
  EXPECT_EQ(file.note, "by lot");
  EXPECT_EQ(file.sentences[0].label, "(a)");
}

TEST_F(AlignmentFileTest, LeavesOutTheMarksOfTheTokenizer) {
  const auto file =
      read("{\"line\":1,\"source\":[\"\uFFED/\uFFED\",\"b\"],\"target\":[\"l'\uFFED\"],\"alignment\":[[1,0]]}");
  EXPECT_THAT(file.sentences[0].alignment.source, ElementsAre("/", "b"));
  EXPECT_THAT(file.sentences[0].alignment.target, ElementsAre("l'"));
}

TEST_F(AlignmentFileTest, RefusesMatricesOfAnotherShapeOrWithoutWeights) {
  EXPECT_THAT(refusal(R"({"line":1,"source":["a"],"target":["x","y"],"alignment":[[1]]})"),
              HasSubstr("sentences, entry 1 has more or fewer rows of weights than target words"));
  EXPECT_THAT(refusal(R"({"line":1,"source":["a"],"target":["x"],"alignment":[[0.5,0.5]]})"),
              HasSubstr("more or fewer weights than source words"));
  EXPECT_THAT(refusal(R"({"line":1,"source":["a"],"target":["x"],"alignment":[[1.5]]})"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(refusal(R"({"line":1,"source":["a"],"target":["x"],"alignment":[[null]]})"), HasSubstr("a number"));
  EXPECT_THAT(refusal(R"({"line":1,"source":["a"],"target":[3],"alignment":[[1]]})"), HasSubstr("not a text"));
  EXPECT_THAT(refusal(R"({"line":1,"source":["a"],"target":["x"]})"), HasSubstr("alignment is missing"));
  EXPECT_THAT(refusal(""), HasSubstr("no sentences"));
  EXPECT_THAT(refusal("", "9"), HasSubstr("format_version 9"));
}

TEST_F(AlignmentFileTest, ReadsWhatWasWritten) {
  const std::vector<std::string> source{"a", "</s>"}, target{"x", "y", "</s>"};
  const std::vector<float> weights{0.1f, 0.9f, 1, 0, 0.25f, 0.75f};
  const std::string sentence = alignment_file_sentence(3, source, target, weights, -1.5);
  EXPECT_THAT(sentence, HasSubstr("[[0.1,0.9],[1.0,0.0],[0.25,0.75]]"));
  std::ofstream(scratch_ / "c.json") << alignment_file_begin("run") << sentence << ",\n"
                                     << alignment_file_sentence(5, source, target, weights, -2)
                                     << alignment_file_end(Json());
  const auto file = read_alignment(scratch_ / "c.json");
  EXPECT_EQ(file.model, "run");
  ASSERT_EQ(file.sentences.size(), 2u);
  EXPECT_EQ(file.sentences[1].line, 5u);
  EXPECT_EQ(file.sentences[1].log_probability, -2);
  EXPECT_EQ(file.sentences[0].alignment.source, source);
  EXPECT_EQ(file.sentences[0].alignment.target, target);
}

class SectionFileTest : public ScratchTest {
 protected:
  SectionFile read(const std::string& members, const std::string& version = "1") {
    return read_section(write_text(scratch_ / "s.json",
                                   R"({"format":"rnnsearch-section","format_version":)" + version + members + "}"));
  }
  std::string refusal(const std::string& members, const std::string& version = "1") {
    return message_of([&] { read(members, version); });
  }
};

const std::string kTable =
    R"(,"title":"Table 2","text":["one","two"],"tables":[{"caption":"how","columns":[{"title":"Model","number":false},)"
    R"({"title":"Updates"}],"rows":[["RNNsearch","12 & <b>"]],"notes":["of ours"]}])";
const std::string kSentence =
    R"(,"title":"Long","sentences":[{"title":"Sentence 7","texts":[{"name":"Source","language":"en","text":"a b"},)"
    R"({"name":"RNNencdec","text":"x","rest":"y <z>"}]}])";

TEST_F(SectionFileTest, ReadsTextTablesAndSentences) {
  const SectionFile table = read(kTable);
  EXPECT_EQ(table.title, "Table 2");
  EXPECT_THAT(table.text, ElementsAre("one", "two"));
  ASSERT_EQ(table.tables.size(), 1u);
  EXPECT_FALSE(table.tables[0].columns[0].number);
  EXPECT_TRUE(table.tables[0].columns[1].number);
  ASSERT_EQ(table.tables[0].rows.size(), 1u);
  EXPECT_EQ(table.tables[0].rows[0][1].text, "12 & <b>");
  EXPECT_THAT(table.tables[0].notes, ElementsAre("of ours"));
  const SectionFile sentences = read(kSentence);
  ASSERT_EQ(sentences.sentences.size(), 1u);
  EXPECT_EQ(sentences.sentences[0].texts[0].language, "en");
  EXPECT_EQ(sentences.sentences[0].texts[1].rest, "y <z>");
}

TEST_F(SectionFileTest, RefusesWhatIsNoSection) {
  EXPECT_THAT(refusal(kTable, "2"), HasSubstr("format_version 2"));
  EXPECT_THAT(refusal(""), HasSubstr("title is missing"));
  EXPECT_THAT(refusal(R"(,"title":"empty")"), HasSubstr("neither text nor tables nor sentences"));
  EXPECT_THAT(refusal(R"(,"title":"t","text":[1])"), HasSubstr("text, entry 1 is not a text"));
  EXPECT_THAT(refusal(R"(,"title":"t","tables":[{"caption":"c","columns":[{"title":"a"}],"rows":[["1","2"]]}])"),
              HasSubstr("tables, entry 1 has a row with more or fewer cells than there are columns"));
  EXPECT_THAT(refusal(R"(,"title":"t","tables":[{"caption":"c","columns":[{"title":"a"}],"rows":[[1]]}])"),
              HasSubstr("rows, entry 1, entry 1 is not a text"));
  EXPECT_THAT(refusal(R"(,"title":"t","sentences":[{"title":"s"}])"),
              HasSubstr("texts is missing, but must be a list"));
}

TEST_F(SectionFileTest, StandsOnThePageAsTextWithTheRestOfASentenceMarked) {
  Report report;
  report.title = "both";
  report.sections = {read(kSentence), read(kTable)};
  const std::string page = html_page(report);
  EXPECT_THAT(page, HasSubstr("x <mark>y &lt;z&gt;</mark>"));
  EXPECT_THAT(page, HasSubstr("12 &amp; &lt;b&gt;"));
  EXPECT_LT(page.find("Table 2</h2>"), page.find("Long</h2>")) << "results stand before sentences";
  EXPECT_THAT(markdown_tables(report), HasSubstr("**how**\n\n| Model | Updates |"));
  const auto files = csv_files(report);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].name, "section-2-table-1.csv");
  EXPECT_EQ(files[0].content, "Model,Updates\r\nRNNsearch,12 & <b>\r\n");
}

}  // namespace
}  // namespace rnnsearch::report

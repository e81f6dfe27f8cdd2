#include "rnnsearch/report/table.h"

#include "report/html.h"
#include "report/page_parts.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/report/evaluation_tables.h"
#include "rnnsearch/text/unicode.h"
#include "tests/evaluate/two_systems.h"
#include "tests/support/test.h"

namespace rnnsearch::report {
namespace {

Table table() {
  return {.id = "t",
          .caption = "Scores <b>",
          .columns = {{"system", false}, {"BLEU"}},
          .rows = {{{"a|b_c"}, {"20.00", "*", true}}, {{"<unk> & x"}, {""}}},
          .notes = {"* p < 0.05"}};
}

TEST(Table, IsMarkdownThatShowsItsTextAsItIs) {
  EXPECT_EQ(markdown_of(table()),
            "**Scores &lt;b>**\n\n"
            "| system | BLEU |\n"
            "| --- | ---: |\n"
            "| a\\|b\\_c | **20.00\\*** |\n"
            "| &lt;unk> &amp; x |  |\n"
            "\n\\* p &lt; 0.05\n");
}

TEST(Table, IsMarkdownOfOneLineARow) {
  for (const char* name : {"a\nb", "a\r\nb", "a\tb", "a\u2028b", "a\u0085b"}) {
    Table strange = table();
    strange.rows.resize(1);
    strange.rows[0][0].text = strange.columns[0].title = strange.caption = strange.notes[0] = name;
    const std::string text = markdown_of(strange);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 7) << text;
    EXPECT_EQ(text.find("\uFFFD"), text.npos) << text;
  }
}

TEST(Table, IsCsvThatASpreadsheetDoesNotCompute) {
  Table strange = table();
  strange.rows = {{{"=1+1"}, {"-2.5"}}, {{"a,\"b\""}, {"", "*"}}};
  EXPECT_EQ(csv_of(strange), "system,BLEU\r\n'=1+1,-2.5\r\n\"a,\"\"b\"\"\",\r\n");
}

TEST(Html, ClosesAllButVoidElements) {
  pugi::xml_document document;
  const auto div = add(document, "div");
  add(div, "p");
  add(div, "br");
  add(add(div, "ul"), "li", {{"class", "a\"b<c"}});
  EXPECT_EQ(html_of(document), "<div><p></p><br/><ul><li class=\"a&quot;b&lt;c\"></li></ul></div>");
}

TEST(Html, HoldsAnyBytesAsText) {
  pugi::xml_document document;
  add(document, "p", {{"title", std::string("\xff\x02", 2)}}, std::string_view("<script>\0&\xc3\xa9\n", 13));
  EXPECT_EQ(html_of(document), "<p title=\"\uFFFD\uFFFD\">&lt;script&gt;\uFFFD&amp;\u00e9 </p>");
}

TEST(Html, EndsAChangeOfDirectionWithItsText) {
  const auto written = [](std::string_view text) {
    pugi::xml_document document;
    add(document, "p", {}, text);
    return html_of(document);
  };
  EXPECT_EQ(written("a\u202eb\u2067c"), "<p>a\u202eb\u2067c\u2069\u202c</p>");
  EXPECT_EQ(written("\u2066a\u2069\u202ab\u202c"), "<p>\u2066a\u2069\u202ab\u202c</p>");
  EXPECT_EQ(written("one\ttwo\r\nthree\r"), "<p>one two  three </p>");
}

using namespace evaluate;
using Lines = std::vector<std::string>;

TEST(EvaluationText, PutsSystemsSideBySideAndMarksSmallBuckets) {
  const Evaluation evaluation = TwoSystems().evaluate(with_edges());
  const std::string expected = R"(
BLEU by sentence length
reference words  sentences                RNNsearch              Système 2
---------------------------------------------------------------------------
up to 10               120  100.00 [100.00, 100.00]   75.98 [75.98, 75.98]
11-20                    1  100.00 [100.00, 100.00]†  90.36 [90.36, 90.36]†
over 20                  0                        –                      –
all                    121  100.00 [100.00, 100.00]   76.29 [75.98, 76.89]

Scores
score                       sentences                RNNsearch             Système 2
------------------------------------------------------------------------------------
BLEU                              121  100.00 [100.00, 100.00]  76.29 [75.98, 76.89]
BLEU without unknown words          0                        –                     –
length ratio                      121                    1.000                 1.198

† fewer than 100 sentences: too few for a reliable score
lengths counted by tok:13a
in brackets: 95% bootstrap intervals
BLEU: )";
  EXPECT_EQ(fmt::format("\n{}", evaluation_text(evaluation, false)), expected + evaluation.systems[0].signature + "\n");
}

TEST(EvaluationText, ShowsWhatElseWasAskedFor) {
  EvaluationOptions options = with_edges();
  options.chrf = options.by_unknown_share = options.by_rarest_word = options.words_by_frequency = true;
  options.significance = {SignificanceTest::kRandomization, 500};
  options.bootstrap.samples = 0;
  options.length = LengthOf::kLongest;
  options.length_tokenizer = text::BleuTokenizer::kChar;
  const Evaluation evaluation = TwoSystems().evaluate(options);
  const std::string table = fmt::format("\n{}", evaluation_text(evaluation, true));
  const auto has = [&](const std::string& line) {
    EXPECT_NE(table.find(fmt::format("\n{}", line)), table.npos) << line << table;
  };
  has("words of the longer side  sentences ");
  has("all                             121  100.00  ratio 1.000   76.29  ratio 1.198**\n");  // (248 / 732)^(1/4), 732 / 611
  has("chrF                              121     100.00      93.39**\n");
  has("BLEU by share of unknown words\nunknown words  sentences ");
  has("over 20%             121  100.00  ratio 1.000  76.29  ratio 1.198\n");
  has("BLEU by training frequency of the rarest word\nrarest word    sentences ");
  has("1-9                         0                      –                      –\n");
  has("10-99                     490  100.0 / 100.0 / 100.0    80.2 / 100.0 / 89.0\n");  // 490 right of 611
  has("Difference: Système 2 minus RNNsearch\n");
  has("11-20                −9.64        –            −2.39        –              −2.26        –\n");
  has("* differs from RNNsearch with p < 0.05, ** with p < 0.01: paired approximate randomization, 500 trials, seed "
      "12345, two-sided, each row of at least 6 sentences by itself\n");
  has("lengths counted by tok:char\n");
  has("BLEU: nrefs:1|case:mixed");
  has("chrF++: " + evaluation.systems[0].all.others[1].signature + "\n");
}

TEST(BucketTable, MarksOnlyWhatWasComparedThoughLabelsAreAlike) {
  EvaluationOptions options;
  options.edges = {9, 99};
  options.bootstrap.samples = 0;
  options.by_rarest_word = true;
  options.significance = {SignificanceTest::kBootstrap, 100};
  TwoSystems corpus;
  for (int more = 0; more < 5; ++more) {
    corpus.references[0].push_back(corpus.references[0].back());
    corpus.right.push_back(corpus.right.back());
    corpus.wrong.push_back(corpus.wrong.back());
    corpus.sources.push_back("s");
    corpus.unknown_shares.push_back(0.5);
    corpus.rarest_words.push_back(12);
  }
  const Evaluation evaluation = corpus.evaluate(options);
  const auto mark_of = [&](const Breakdown& breakdown, const std::string& label) {
    for (const auto& row : bucket_table(evaluation, breakdown).rows)
      if (row.front().text == label) return row.back().mark;
    return std::string("no such row");
  };
  const auto breakdowns = breakdowns_of(evaluation);
  ASSERT_EQ(breakdowns.size(), 2u);
  EXPECT_EQ(mark_of(breakdowns[0], "10-99"), "**\u2020");
  EXPECT_EQ(mark_of(breakdowns[1], "10-99"), "");
}

TEST(EvaluationText, KeepsItsColumnsWhateverTheNames) {
  const std::vector<Lines> references{{"a b c d e"}};
  const Lines right{"a b c d e"};
  EvaluationOptions options = with_edges();
  options.bootstrap.samples = 0;
  for (const std::string name :
       {"a\tb", "a\nb", "a\r\nb", "中文", "e\u0301", "\u202eabc", "\xff", "=1+1", "a|b", "\"", "\u2028"}) {
    const SystemOutput systems[] = {{name, right}, {std::string(5000, 'x'), right}};
    std::istringstream lines(
        evaluation_text(evaluate::evaluate({{}, references, {}, {}, {}, {}}, systems, options), false));
    std::string caption, header, rule, row;
    std::getline(lines, caption), std::getline(lines, header), std::getline(lines, rule), std::getline(lines, row);
    EXPECT_EQ(columns_of(header), columns_of(rule) - 1) << name;
    EXPECT_EQ(columns_of(row), columns_of(rule)) << name;
    EXPECT_EQ(printable(header), header) << name;
    EXPECT_LT(columns_of(rule), 130u) << name;
  }
}

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
  for (const Choice& choice : choices)
    if (choice.title == title) return choice.sentences;
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

#include "rnnsearch/report/evaluation_tables.h"

#include <gtest/gtest.h>

#include <sstream>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/text/unicode.h"
#include "tests/evaluate/two_systems.h"

namespace rnnsearch::report {
namespace {

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
    for (const auto& row : bucket_table(evaluation, breakdown).rows) {
      if (row.front().text == label) return row.back().mark;
    }
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

}  // namespace
}  // namespace rnnsearch::report

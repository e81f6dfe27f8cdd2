#include "rnnsearch/evaluate/presentation.h"

#include <gtest/gtest.h>

#include <sstream>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/text/unicode.h"
#include "tests/evaluate/two_systems.h"

namespace rnnsearch::evaluate {
namespace {

using Lines = std::vector<std::string>;

TEST(RenderTable, PutsSystemsSideBySideAndMarksSmallBuckets) {
  const Evaluation evaluation = TwoSystems().evaluate(with_edges());
  const std::string expected = R"(
reference words        sentences                 RNNsearch             Système 2
--------------------------------------------------------------------------------
up to 10                     120   100.00 [100.00, 100.00]  75.98 [75.98, 75.98]
11-20                          1*  100.00 [100.00, 100.00]  90.36 [90.36, 90.36]
over 20                        0                         -                     -
--------------------------------------------------------------------------------
all                          121   100.00 [100.00, 100.00]  76.29 [75.98, 76.89]
without unknown words          0                         -                     -
* fewer than 100 sentences: too few for a reliable score
lengths counted by tok:13a
BLEU [95% bootstrap interval]  )";
  EXPECT_EQ(fmt::format("\n{}", render_table(evaluation)), expected + evaluation.systems[0].signature + "\n");
}

TEST(RenderTable, ShowsWhatElseWasAskedFor) {
  EvaluationOptions options = with_edges();
  options.chrf = options.by_unknown_share = options.by_rarest_word = options.words_by_frequency = true;
  options.significance = {SignificanceTest::kRandomization, 500, 12345};
  options.bootstrap.samples = 0;
  options.length = LengthOf::kLongest;
  options.length_tokenizer = text::BleuTokenizer::kChar;
  const Evaluation evaluation = TwoSystems().evaluate(options);
  const std::string table = fmt::format("\n{}", render_table(evaluation));
  const auto has = [&](const std::string& line) {
    EXPECT_NE(table.find(fmt::format("\n{}", line)), table.npos) << line << table;
  };
  has("words of the longer side      sentences   RNNsearch  Système 2\n");
  has("all                                 121     100.00      76.29†\n");  // (248 / 732)^(1/4)
  has("chrF                                121     100.00      93.39†\n");
  has("unknown words in the pair     sentences\n");
  has("over 20%                            121     100.00      76.29\n");
  has("rarest word of the reference  sentences\n");
  has("10-99                               121     100.00      76.29\n");
  has("words by frequency, F1            words\n");
  has("unknown                             121     100.00     100.00\n");
  has("1-9                                   0          -          -\n");
  has("10-99                               490     100.00      89.01\n");  // 490 right of 611
  has("† p < 0.05 against RNNsearch: paired approximate randomization, 500 trials, seed 12345, each row of at least 6 "
      "sentences by itself\n");
  has("lengths counted by tok:char\n");
  has("BLEU  nrefs:1|case:mixed");
  has("chrF++  " + evaluation.systems[0].all.others[1].signature + "\n");
}

TEST(RenderTable, MarksOnlyWhatWasComparedThoughLabelsAreAlike) {
  EvaluationOptions options;
  options.edges = {9, 99};
  options.bootstrap.samples = 0;
  options.by_rarest_word = true;
  options.significance = {SignificanceTest::kBootstrap, 100, 12345};
  TwoSystems corpus;
  corpus.references[0].resize(125, corpus.references[0].back());
  corpus.right.resize(125, corpus.right.back());
  corpus.wrong.resize(125, corpus.wrong.back());
  corpus.sources.resize(125, "s");
  corpus.unknown_shares.resize(125, 0.5);
  corpus.rarest_words.resize(125, 12);
  const std::string five = render_table(corpus.evaluate(options));
  EXPECT_NE(five.find("10-99                                 5*    100.00      90.36\n"), five.npos) << five;
  for (Lines* lines : {&corpus.references[0], &corpus.right, &corpus.wrong, &corpus.sources}) {
    lines->push_back(lines->back());
  }
  corpus.unknown_shares.push_back(0.5);
  corpus.rarest_words.push_back(12);
  const std::string table = render_table(corpus.evaluate(options));
  EXPECT_NE(table.find("10-99                                 6*    100.00      90.36†\n"), table.npos) << table;
  EXPECT_NE(table.find("10-99                               126     100.00      77.65\n"), table.npos) << table;
}

TEST(RenderTable, KeepsItsColumnsWhateverTheNames) {
  const std::vector<Lines> references{{"a b c d e"}};
  const Lines right{"a b c d e"};
  EvaluationOptions options = with_edges();
  options.bootstrap.samples = 0;
  for (const std::string name :
       {"a\tb", "a\nb", "a\r\nb", "中文", "e\u0301", "\u202eabc", "\xff", "=1+1", "a|b", "\"", "\u2028"}) {
    const SystemOutput systems[] = {{name, right}, {std::string(5000, 'x'), right}};
    std::istringstream lines(render_table(evaluate({{}, references, {}, {}, {}, nullptr}, systems, options)));
    std::string header, rule, row;
    std::getline(lines, header), std::getline(lines, rule), std::getline(lines, row);
    EXPECT_EQ(columns_of(header), columns_of(rule)) << name;
    EXPECT_EQ(columns_of(row), columns_of(rule)) << name;
    EXPECT_EQ(printable(header), header) << name;
    EXPECT_LT(columns_of(rule), 130u) << name;
  }
}

}  // namespace
}  // namespace rnnsearch::evaluate

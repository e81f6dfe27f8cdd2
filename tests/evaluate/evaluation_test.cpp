#include "rnnsearch/evaluate/evaluation.h"

#include <nlohmann/json.hpp>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/evaluate/metrics.h"
#include "rnnsearch/text/unicode.h"
#include "tests/evaluate/mean_of.h"
#include "tests/evaluate/two_systems.h"
#include "tests/support/test.h"

namespace rnnsearch::evaluate {
namespace {

using Lines = std::vector<std::string>;

std::string words(std::size_t count, Random& random) {
  std::string line;
  for (; count > 0; --count) {
    line.push_back(static_cast<char>('a' + random.below(6)));
    line.push_back(' ');
  }
  return line;
}

struct Corpus {
  Lines hypotheses, others;  // of two systems
  std::vector<Lines> references;
  Lines sources;
  std::vector<double> unknown_shares;
  std::vector<std::uint64_t> rarest_words;
  WordFrequencies frequencies{[](std::string_view line) { return text::split_words(line); },
                              [](std::string_view word) { return std::uint64_t{word == "a" ? 0U : 20U}; }};

  TestSet test() const { return {"test/news", references, sources, unknown_shares, rarest_words, frequencies}; }
  Evaluation evaluate(const EvaluationOptions& options = {}) const {
    const SystemOutput system{"RNNsearch", hypotheses};
    return evaluate::evaluate(test(), std::span(&system, 1), options);
  }
  Evaluation evaluate_both(const EvaluationOptions& options) const {
    const SystemOutput systems[] = {{"RNNsearch", hypotheses}, {"Moses", others}};
    return evaluate::evaluate(test(), systems, options);
  }
};

Corpus corpus(std::size_t sentences) {
  Corpus corpus;
  corpus.references.resize(1);
  Random random(11);
  for (std::size_t i = 0; i < sentences; ++i) {
    corpus.references[0].push_back(words(random.below(70), random));
    corpus.hypotheses.push_back(corpus.references[0].back() + words(random.below(10), random));
    corpus.others.push_back(corpus.references[0].back() + words(random.below(9), random));
    corpus.sources.push_back(words(1 + random.below(20), random));
    corpus.unknown_shares.push_back(random.below(3) == 0 ? 0 : 0.15);
    corpus.rarest_words.push_back(random.below(2) == 0 ? 0 : 70);
  }
  return corpus;
}

// Some of the sentences as a corpus of their own.
template <class Chosen>
double bleu_of_those(const Corpus& lines, Chosen chosen, std::size_t& count) {
  Lines hypotheses;
  std::vector<Lines> references(1);
  for (std::size_t i = 0; i < lines.hypotheses.size(); ++i) {
    if (!chosen(i)) continue;
    hypotheses.push_back(lines.hypotheses[i]);
    references[0].push_back(lines.references[0][i]);
  }
  count = hypotheses.size();
  return corpus_bleu(hypotheses, references, {}).score;
}

TEST(Evaluate, ScoresEachRowAsACorpusOfItsOwn) {
  const Corpus lines = corpus(400);
  EvaluationOptions options;
  options.by_unknown_share = options.by_rarest_word = options.words_by_frequency = true;
  const Evaluation evaluation = lines.evaluate(options);
  const SystemEvaluation& system = evaluation.systems.at(0);
  ASSERT_EQ(system.buckets.size(), 7u);
  std::size_t count = 0;
  for (std::size_t b = 0; b < system.buckets.size(); ++b) {
    const BucketScore& bucket = system.buckets[b];
    const double bleu = bleu_of_those(
        lines,
        [&](std::size_t i) {
          const std::size_t length = word_count(lines.references[0][i], {});
          return length > 60 ? b == 6 : b == (length == 0 ? 0 : (length - 1) / 10);
        },
        count);
    EXPECT_EQ(bucket.sentences, count);
    EXPECT_EQ(bucket.bleu.score, bleu);
    EXPECT_LT(*bucket.low, bucket.bleu.score);
    EXPECT_GT(*bucket.high, bucket.bleu.score);
  }
  EXPECT_EQ(system.all.bleu.score, corpus_bleu(lines.hypotheses, lines.references, {}).score);
  const auto known = [&](std::size_t i) { return lines.unknown_shares[i] == 0; };
  EXPECT_EQ(system.without_unknown_words->bleu.score, bleu_of_those(lines, known, count));
  EXPECT_EQ(system.without_unknown_words->sentences, count);
  ASSERT_EQ(system.by_unknown_share.size(), 5u);
  EXPECT_EQ(system.by_unknown_share[0].bleu.score, system.without_unknown_words->bleu.score);
  EXPECT_EQ(system.by_unknown_share[3].bleu.score, bleu_of_those(lines, std::not_fn(known), count));
  EXPECT_EQ(system.by_unknown_share[3].sentences, count);
  ASSERT_EQ(system.by_rarest_word.size(), 5u);
  EXPECT_EQ(system.by_rarest_word[2].bleu.score,
            bleu_of_those(
                lines, [&](std::size_t i) { return lines.rarest_words[i] == 70; }, count));
  EXPECT_EQ(system.words_by_frequency[0].words,
            word_accuracies(lines.hypotheses, lines.references[0], lines.frequencies)[0].words);
  EXPECT_GT(system.words_by_frequency[2].words, system.words_by_frequency[0].words);

  const Evaluation plain = lines.evaluate();
  EXPECT_TRUE(plain.systems[0].by_unknown_share.empty());
  EXPECT_TRUE(plain.systems[0].by_rarest_word.empty());
  EXPECT_TRUE(plain.systems[0].words_by_frequency.empty());
  EXPECT_TRUE(plain.comparisons.empty());
}

TEST(Evaluate, GivesTheSameBitsOnAnyNumberOfThreads) {
  const Corpus lines = corpus(600);
  EvaluationOptions options;
  options.chrf = options.ter = options.by_unknown_share = options.by_rarest_word = options.words_by_frequency = true;
  options.significance.test = SignificanceTest::kRandomization;
  options.significance.samples = 1100;
  std::string first;
  for (const std::size_t threads : {1u, 2u, 3u}) {
    set_thread_count(threads);
    const std::string json = json_text(to_json(lines.evaluate_both(options)));
    if (first.empty()) first = json;
    EXPECT_EQ(json, first) << threads << " threads";
  }
  options.bootstrap.seed = 1;
  EXPECT_NE(json_text(to_json(lines.evaluate_both(options))), first);
}

TEST(Evaluate, TakesThePercentilesOfTheSamples) {
  // Half the sentences are perfect, the others hopeless: BLEU of a sample with k good ones of 200 is about 100 k / 200,
  // and k is binomial with standard deviation 7.07, so 95% of the samples are within 2 * 7.07 / 2 points. chrF, too.
  Corpus lines;
  lines.references = {Lines(200, "abc bcd cde def efg fgh ghi hij")};
  lines.hypotheses = Lines(100, "abc bcd cde def efg fgh ghi hij");
  lines.hypotheses.resize(200, "pqr qrs rst stu tuv uvw vwx wxy");
  lines.unknown_shares.assign(200, 0);
  EvaluationOptions options;
  options.chrf = true;
  const Evaluation evaluation = lines.evaluate(options);
  const BucketScore& all = evaluation.systems[0].all;
  EXPECT_NEAR(all.bleu.score, 50, 1e-9);
  EXPECT_NEAR(*all.low, 43, 1);
  EXPECT_NEAR(*all.high, 57, 1);
  EXPECT_EQ(evaluation.systems[0].without_unknown_words->low, all.low);
  for (const MetricScore& other : all.others) {
    EXPECT_NEAR(other.score, 50, 1e-9) << other.metric;
    EXPECT_NEAR(*other.low, 43, 1) << other.metric;
    EXPECT_NEAR(*other.high, 57, 1) << other.metric;
  }
  options.bootstrap.samples = 0;
  EXPECT_EQ(lines.evaluate(options).systems[0].all.others[1].high, std::nullopt);
}

TEST(Evaluate, AddsTerWhereItIsWanted) {
  Corpus lines = corpus(60);
  lines.references.push_back(lines.sources);
  lines.references.push_back(lines.others);  // lengths of which the mean is no whole number
  EvaluationOptions options;
  options.chrf = options.ter = options.sentences = true;
  const Evaluation evaluation = lines.evaluate(options);
  const auto& others = evaluation.systems[0].all.others;
  ASSERT_EQ(others.size(), 3u);
  EXPECT_EQ(others[0].score, corpus_chrf(lines.hypotheses, lines.references, {}));
  EXPECT_EQ(others[1].score, corpus_chrf(lines.hypotheses, lines.references, {.word_orders = 2}));
  EXPECT_EQ(evaluation.systems[0].buckets[1].others.size(), 3u);
  EXPECT_EQ(others[2].metric, "TER");
  EXPECT_NEAR(others[2].score, corpus_ter(lines.hypotheses, lines.references, {}), 1e-9);
  EXPECT_LT(*others[2].low, others[2].score);
  EXPECT_GT(*others[2].high, others[2].score);
  EXPECT_EQ(evaluation.systems[0].all.others[2].signature, signature(TerOptions{}, 3, Bootstrap{}));
  const std::vector<Lines> of_seventh = {{lines.references[0][7]}, {lines.references[1][7]}, {lines.references[2][7]}};
  EXPECT_NEAR(evaluation.sentences[7].systems[0].others[2].score,
              corpus_ter(Lines{lines.hypotheses[7]}, of_seventh, {}), 1e-9);
  options.chrf = false;
  EXPECT_EQ(lines.evaluate(options).systems[0].all.others.size(), 1u);
}

TEST(Evaluate, AddsSequenceAccuracyWhereItIsWanted) {
  Corpus lines = corpus(60);
  for (std::size_t i = 0; i < 60; i += 3) {  // the word before the last is gone: one out of its place, one missing
    std::string& line = lines.hypotheses[i] = lines.references[0][i];
    if (line.size() >= 4) line.erase(line.size() - 4, 2);
  }
  EvaluationOptions options;
  options.sequence_accuracy = SequenceAccuracyMode::kWhole;
  options.sentences = true;
  const Evaluation evaluation = lines.evaluate(options);
  const auto& others = evaluation.systems[0].all.others;
  ASSERT_EQ(others.size(), 3u);
  const auto sentences = corpus_statistics(lines.hypotheses, lines.references, SequenceAccuracyOptions{});
  const SequenceAccuracy mean = mean_of(sentences);
  ASSERT_LT(mean.psa, mean.lcsr);
  ASSERT_LT(mean.lcsr, 1);
  const std::pair<const char*, double> expected[] = {
      {"PSA", mean.psa}, {"LCSR", mean.lcsr}, {"GeoMean", mean.geometric_mean}};
  for (std::size_t m = 0; m < 3; ++m) {
    EXPECT_EQ(others[m].metric, expected[m].first);
    EXPECT_NEAR(others[m].score, 100 * expected[m].second, 1e-6);
    EXPECT_LT(*others[m].low, others[m].score);
    EXPECT_GT(*others[m].high, others[m].score);
    EXPECT_EQ(evaluation.systems[0].all.others[m].signature, signature(SequenceAccuracyOptions{}, 1, Bootstrap{}));
  }
  EXPECT_EQ(evaluation.sequence_accuracy, SequenceAccuracyMode::kWhole);
  EXPECT_NEAR(evaluation.sentences[7].systems[0].others[0].score, 100 * sentences[7].psa, 1e-6);
  EXPECT_NEAR(evaluation.sentences[7].systems[0].others[2].score, 100 * sentences[7].geometric_mean, 1e-6);
  // All of it is all of it, though shares are rounded.
  const SystemOutput right{"right", lines.references[0]};
  EXPECT_EQ(evaluate(lines.test(), std::span(&right, 1), options).systems[0].all.others[2].score, 100);
}

TEST(Evaluate, CutsOutputsForSequenceAccuracyWhereThatIsWanted) {
  Corpus lines = corpus(60);
  for (std::string& line : lines.hypotheses) line = "x " + line;  // every word one place late
  EvaluationOptions options;
  options.sequence_accuracy = SequenceAccuracyMode::kCut;
  const Evaluation evaluation = lines.evaluate(options);
  const SequenceAccuracyOptions cut{.cut_output = true};
  const SequenceAccuracy of_cut = mean_of(corpus_statistics(lines.hypotheses, lines.references, cut));
  const SequenceAccuracy of_whole =
      mean_of(corpus_statistics(lines.hypotheses, lines.references, SequenceAccuracyOptions{}));
  ASSERT_LT(of_cut.lcsr, of_whole.lcsr);
  EXPECT_EQ(evaluation.sequence_accuracy, SequenceAccuracyMode::kCut);
  EXPECT_NEAR(evaluation.systems[0].all.others[1].score, 100 * of_cut.lcsr, 1e-6);
  EXPECT_NEAR(evaluation.systems[0].all.others[2].score, 100 * of_cut.geometric_mean, 1e-6);
  EXPECT_EQ(evaluation.systems[0].all.others[1].signature, signature(cut, 1, Bootstrap{}));
}

TEST(Evaluate, ComparesEverySystemWithTheBaselineOnEveryRow) {
  const Corpus lines = corpus(300);
  const SystemOutput systems[] = {{"A", lines.hypotheses}, {"B", lines.others}, {"C", lines.references[0]}};
  EvaluationOptions options;
  options.chrf = true;
  options.edges = {20, 40, 500};
  options.baseline = "B";
  options.significance = {SignificanceTest::kBootstrap, 200};
  options.bootstrap.samples = 100;
  const Evaluation evaluation = evaluate(lines.test(), systems, options);
  // 2 systems, 3 metrics, all + without unknown words + the 3 buckets of 4 that have sentences
  ASSERT_EQ(evaluation.comparisons.size(), 2u * 3 * 5);
  for (const Comparison& comparison : evaluation.comparisons) {
    EXPECT_EQ(comparison.baseline, "B");
    EXPECT_NE(comparison.system, "B");
    EXPECT_NE(comparison.row, "over 500");
    EXPECT_EQ(comparison.samples, 200u);
    EXPECT_TRUE(comparison.system == "A" || comparison.difference > 0);
    if (comparison.row != "21-40" || comparison.metric != "BLEU") continue;
    const auto& of_system = evaluation.systems[comparison.system == "A" ? 0 : 2];
    EXPECT_EQ(comparison.difference, of_system.buckets[1].bleu.score - evaluation.systems[1].buckets[1].bleu.score);
  }
  // Intervals are of their own number of samples, whatever the test needs.
  EvaluationOptions alone = options;
  alone.significance.test = SignificanceTest::kNone;
  alone.baseline.clear();
  EXPECT_EQ(evaluate(lines.test(), systems, alone).systems[0].all.low, evaluation.systems[0].all.low);
  // p values need no intervals.
  options.bootstrap.samples = 0;
  EXPECT_EQ(evaluate(lines.test(), systems, options).comparisons[3].p, evaluation.comparisons[3].p);
  options.baseline.clear();
  EXPECT_EQ(evaluate(lines.test(), systems, options).comparisons[0].baseline, "A");
}

TEST(Evaluate, ScoresSingleSentencesWithEffectiveOrder) {
  Corpus lines;
  lines.references = {{"a b", "a b c d e f", ""}, {"x", "a b c d e", "y"}};
  lines.hypotheses = {"a b", "a b c d z", ""};
  lines.sources = {"s", "t", "u"};
  EvaluationOptions options;
  options.edges = {3};
  options.chrf = options.sentences = true;
  options.bleu.smoothing = Smoothing::kFloor;  // of the corpus only
  const auto sentences = lines.evaluate(options).sentences;
  ASSERT_EQ(sentences.size(), 3u);
  EXPECT_NEAR(sentences[0].systems[0].bleu, 100, 1e-9);
  // 4 of 5 words, 3 of 4 pairs, 2 of 3, 1 of 2; as long as the second reference
  EXPECT_NEAR(sentences[1].systems[0].bleu, 100 * std::pow(4. / 5 * 3 / 4 * 2 / 3 * 1 / 2, 0.25), 1e-9);
  EXPECT_EQ(sentences[2].systems[0].bleu, 0);
  EXPECT_EQ(sentences[1].line, 2u);
  EXPECT_EQ(sentences[1].bucket, "over 3");
  EXPECT_EQ(sentences[1].source, "t");
  EXPECT_EQ(sentences[1].references, (Lines{"a b c d e f", "a b c d e"}));
  EXPECT_EQ(sentences[1].systems[0].hypothesis, "a b c d z");
  ASSERT_EQ(sentences[1].systems[0].others.size(), 2u);
  const std::vector<Lines> second = {{lines.references[0][1]}, {lines.references[1][1]}};
  EXPECT_EQ(sentences[1].systems[0].others[1].score, corpus_chrf(Lines{"a b c d z"}, second, {.word_orders = 2}));
  options.sentences = false;
  EXPECT_TRUE(lines.evaluate(options).sentences.empty());
}

TEST(Evaluate, EndsWithWhatPollThrowsAndWithoutLines) {
  EXPECT_THROW(corpus(0).evaluate(), Error);
  const Corpus lines = corpus(3);
  const SystemOutput system{"A", lines.hypotheses};
  EXPECT_THROW(evaluate(lines.test(), std::span(&system, 1), {}, [] { throw Error("stop"); }), Error);
}

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
  std::istringstream lines(chart);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
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

TEST(ToJson, IsOneObjectOfAllThatIsKnown) {
  EvaluationOptions options = with_edges();
  options.chrf = options.by_unknown_share = options.by_rarest_word = options.words_by_frequency = options.sentences =
      true;
  options.significance = {SignificanceTest::kBootstrap, 100};
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
  options.significance = {SignificanceTest::kBootstrap, 100};
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
  for (const char* name : {"by_unknown_share", "by_rarest_word", "words_by_frequency", "chrF"})
    EXPECT_EQ(find_member(system, name), nullptr) << name;
}

TEST(FromJson, GivesTheEvaluationThatWasWritten) {
  EvaluationOptions options = with_edges();
  options.chrf = options.ter = options.by_unknown_share = options.by_rarest_word = options.words_by_frequency =
      options.sentences = true;
  options.sequence_accuracy = SequenceAccuracyMode::kCut;
  options.length_tokenizer = text::BleuTokenizer::kChar;
  options.significance = {SignificanceTest::kBootstrap, 100};
  options.bootstrap.seed = 18446744073709551615u;
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

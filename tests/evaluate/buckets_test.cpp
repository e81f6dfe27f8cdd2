#include "rnnsearch/evaluate/buckets.h"

#include <gtest/gtest.h>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/random.h"
#include "rnnsearch/evaluate/chrf.h"
#include "rnnsearch/kernels/parallel.h"

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
  Lines hypotheses;
  std::vector<Lines> references;
  Lines sources;
  std::vector<bool> known;

  EvaluationInput input() const { return {"RNNsearch", hypotheses, references, sources, &known}; }
};

Corpus corpus(std::size_t sentences) {
  Corpus corpus;
  corpus.references.resize(1);
  Random random(11);
  for (std::size_t i = 0; i < sentences; ++i) {
    corpus.references[0].push_back(words(random.below(70), random));
    corpus.hypotheses.push_back(corpus.references[0].back() + words(random.below(10), random));
    corpus.sources.push_back(words(1 + random.below(20), random));
    corpus.known.push_back(random.below(3) == 0);
  }
  return corpus;
}

TEST(EvaluateByLength, PutsASentenceWhereItsReferenceLengthBelongs) {
  Corpus lines;
  lines.references = {{"", "a", "a b", "a b c", "a, b", "a b c d e"}};
  lines.hypotheses = Lines(6, "a");
  lines.sources = {"a b c", "a", "a", "a", "a", "a"};
  lines.known.assign(6, false);
  BucketOptions options;
  options.edges = {2, 3};
  Evaluation evaluation = evaluate_by_length(lines.input(), {}, options);
  ASSERT_EQ(evaluation.buckets.size(), 3u);
  EXPECT_EQ(evaluation.buckets[0].sentences, 3u);
  EXPECT_EQ(evaluation.buckets[0].label, "up to 2");
  EXPECT_EQ(evaluation.buckets[1].sentences, 2u);  // "a , b" has three words
  EXPECT_EQ(evaluation.buckets[1].label, "3");
  EXPECT_EQ(evaluation.buckets[2].sentences, 1u);
  EXPECT_EQ(evaluation.buckets[2].label, "over 3");
  EXPECT_EQ(evaluation.all.sentences, 6u);
  EXPECT_EQ(evaluation.without_unknown_words->sentences, 0u);

  options.length = LengthOf::kSource;
  evaluation = evaluate_by_length(lines.input(), {}, options);
  EXPECT_EQ(evaluation.buckets[0].sentences, 5u);
  EXPECT_EQ(evaluation.buckets[1].sentences, 1u);
}

TEST(EvaluateByLength, ScoresEachBucketAsACorpusOfItsOwn) {
  const Corpus lines = corpus(400);
  const Evaluation evaluation = evaluate_by_length(lines.input(), {}, {});
  for (std::size_t b = 0; b < evaluation.buckets.size(); ++b) {
    Lines hypotheses;
    std::vector<Lines> references(1);
    for (std::size_t i = 0; i < lines.hypotheses.size(); ++i) {
      const std::size_t length = word_count(lines.references[0][i], {});
      if (length > 60 ? b != 6 : b != (length == 0 ? 0 : (length - 1) / 10)) continue;
      hypotheses.push_back(lines.hypotheses[i]);
      references[0].push_back(lines.references[0][i]);
    }
    ASSERT_EQ(evaluation.buckets[b].sentences, hypotheses.size());
    const BucketScore& bucket = evaluation.buckets[b];
    EXPECT_EQ(bucket.bleu.score, corpus_bleu(hypotheses, references, {}).score);
    EXPECT_LT(bucket.low, bucket.bleu.score);
    EXPECT_GT(bucket.high, bucket.bleu.score);
  }
  EXPECT_EQ(evaluation.all.bleu.score, corpus_bleu(lines.hypotheses, lines.references, {}).score);
}

TEST(EvaluateByLength, GivesTheSameBitsOnAnyNumberOfThreads) {
  const Corpus lines = corpus(600);
  const std::size_t before = kernels::threads();
  std::string first;
  for (const std::size_t threads : {1u, 2u, 3u}) {
    kernels::set_threads(threads);
    const std::string json = to_json(evaluate_by_length(lines.input(), {}, {})).dump();
    if (first.empty()) first = json;
    EXPECT_EQ(json, first) << threads << " threads";
  }
  BucketOptions other;
  other.bootstrap.seed = 1;
  EXPECT_NE(to_json(evaluate_by_length(lines.input(), {}, other)).dump(), first);
  kernels::set_threads(before);
}

TEST(EvaluateByLength, TakesThePercentilesOfTheSamples) {
  // Half the sentences are perfect, the others hopeless: BLEU of a sample with k good ones of 200 is about 100 k / 200,
  // and k is binomial with standard deviation 7.07, so 95% of the samples are within 2 * 7.07 / 2 points.
  Corpus lines;
  lines.references = {Lines(200, "a b c d e f g h")};
  lines.hypotheses = Lines(100, "a b c d e f g h");
  lines.hypotheses.resize(200, "p q r s t u v w");
  lines.known.assign(200, true);
  const Evaluation evaluation = evaluate_by_length(lines.input(), {}, {});
  EXPECT_NEAR(evaluation.all.bleu.score, 50, 1e-9);
  EXPECT_NEAR(evaluation.all.low, 43, 1);
  EXPECT_NEAR(evaluation.all.high, 57, 1);
  EXPECT_EQ(evaluation.without_unknown_words->low, evaluation.all.low);
}

TEST(EvaluateByLength, NeverCountsABucketWithoutMatchesAsRight) {
  Corpus lines;
  lines.references = {{"a b c d", "a b c d e f g h i j k l"}};
  lines.hypotheses = {"w x y z", "a b c d e f g h i j k l"};
  lines.known = {true, false};
  const Evaluation evaluation = evaluate_by_length(lines.input(), {}, {});
  EXPECT_EQ(evaluation.buckets[0].bleu.score, 0);
  EXPECT_EQ(evaluation.without_unknown_words->bleu.score, 0);
  EXPECT_NEAR(evaluation.buckets[1].bleu.score, 100, 1e-9);
  EXPECT_EQ(evaluation.buckets[6].sentences, 0u);
  EXPECT_EQ(evaluation.buckets[6].bleu.score, 0);
}

TEST(EvaluateByLength, RefusesWhatDoesNotFit) {
  Corpus lines = corpus(3);
  BucketOptions options;
  options.edges = {10, 10};
  EXPECT_THROW(evaluate_by_length(lines.input(), {}, options), Error);
  options = {};
  options.length = LengthOf::kSource;
  lines.sources.pop_back();
  EXPECT_THROW(evaluate_by_length(lines.input(), {}, options), Error);
  lines.known.pop_back();
  EXPECT_THROW(evaluate_by_length(lines.input(), {}, {}), Error);
  lines = corpus(3);
  lines.references[0].pop_back();
  EXPECT_THROW(evaluate_by_length(lines.input(), {}, {}), Error);
  EXPECT_THROW(evaluate_by_length(corpus(0).input(), {}, {}), Error);
  EXPECT_THROW(length_of("target"), Error);
}

TEST(RenderTable, PutsSystemsSideBySideAndMarksSmallBuckets) {
  Corpus lines;
  lines.references = {Lines(120, "a b c d e")};
  lines.references[0].push_back("a b c d e f g h i j k");
  lines.hypotheses = lines.references[0];
  lines.known.assign(121, false);
  BucketOptions options;
  options.edges = {10, 20};
  const Evaluation first = evaluate_by_length(lines.input(), {}, options);
  Evaluation second = first;
  second.system = "Système 2";
  second.without_unknown_words.reset();
  const std::string expected = R"(
reference words        sentences                 RNNsearch                Système 2
-----------------------------------------------------------------------------------
up to 10                     120   100.00 [100.00, 100.00]  100.00 [100.00, 100.00]
11-20                          1*  100.00 [100.00, 100.00]  100.00 [100.00, 100.00]
over 20                        0                         -                        -
-----------------------------------------------------------------------------------
all                          121   100.00 [100.00, 100.00]  100.00 [100.00, 100.00]
without unknown words          0                         -                        -
* fewer than 100 sentences: not to be trusted
BLEU [95% bootstrap interval]  )";
  EXPECT_EQ("\n" + render_table(std::vector{first, second}), expected + first.signature + "\n");
  second.buckets[0].sentences = 119;
  EXPECT_THROW(render_table(std::vector{first, second}), Error);
}

TEST(EvaluateByLength, AddsChrfWhereItIsWanted) {
  const Corpus lines = corpus(30);
  BucketOptions options;
  EXPECT_TRUE(evaluate_by_length(lines.input(), {}, options).others.empty());
  options.chrf = true;
  const Evaluation evaluation = evaluate_by_length(lines.input(), {}, options);
  ASSERT_EQ(evaluation.others.size(), 2u);
  EXPECT_EQ(evaluation.others[0].score, corpus_chrf(lines.hypotheses, lines.references, {}));
  EXPECT_EQ(evaluation.others[1].score, corpus_chrf(lines.hypotheses, lines.references, {.word_orders = 2}));
  const std::string table = render_table(std::vector{evaluation, evaluation});
  EXPECT_NE(table.find("\nchrF "), table.npos) << table;
  EXPECT_NE(table.find("\nchrF++  " + evaluation.others[1].signature + "\n"), table.npos) << table;
  EXPECT_EQ(to_json(evaluation).at("chrF++").at("score").number(), evaluation.others[1].score);
}

TEST(ToJson, HoldsEveryNumberOfTheTable) {
  const Evaluation evaluation = evaluate_by_length(corpus(30).input(), {}, {});
  const Json json = Json::parse(to_json(evaluation).dump(), "test");
  EXPECT_EQ(json.at("system").string(), "RNNsearch");
  EXPECT_EQ(json.at("signature").string(), evaluation.signature);
  EXPECT_EQ(json.at("length").string(), "reference");
  EXPECT_EQ(json.at("buckets").items().size(), 7u);
  EXPECT_EQ(json.at("all").at("bleu").number(), evaluation.all.bleu.score);
  EXPECT_EQ(json.at("all").at("low").number(), evaluation.all.low);
  EXPECT_FALSE(json.at("all").at("reliable").boolean());
  EXPECT_EQ(json.at("buckets").items()[1].at("label").string(), "11-20");
  EXPECT_EQ(json.at("all").at("sentences").integer(), 30);
}

}  // namespace
}  // namespace rnnsearch::evaluate

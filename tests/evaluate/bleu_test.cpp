#include "rnnsearch/evaluate/metrics.h"

#include <gtest/gtest.h>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/version.h"

namespace rnnsearch::evaluate {
namespace {

using Lines = std::vector<std::string>;

BleuOptions with(Smoothing smoothing, std::optional<double> value = std::nullopt) {
  BleuOptions options;
  options.tokenizer = text::BleuTokenizer::kNone;
  options.smoothing = smoothing;
  options.smooth_value = value;
  return options;
}

double score(const std::string& hypothesis, const std::string& reference, const BleuOptions& options) {
  const std::vector<Lines> references = {{reference}};
  return corpus_bleu(Lines{hypothesis}, references, options).score;
}

// The example of sacreBLEU's README, and the scores its test suite publishes for it.
const Lines kHypotheses = {"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."};
const std::vector<Lines> kReferences = {
    {"The dog bit the man.", "It was not unexpected.", "The man bit him first."},
    {"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."}};

TEST(CorpusBleu, GivesThePublishedScores) {
  BleuOptions options;
  EXPECT_NEAR(corpus_bleu(kHypotheses, kReferences, options).score, 48.530827, 1e-8);
  options.smoothing = Smoothing::kNone;
  EXPECT_NEAR(corpus_bleu(kHypotheses, kReferences, options).score, 48.530827, 1e-8);
  options = {};
  options.tokenizer = text::BleuTokenizer::kNone;
  EXPECT_NEAR(corpus_bleu(kHypotheses, kReferences, options).score, 49.1919566, 1e-8);
  options.tokenizer = text::BleuTokenizer::kIntl;
  EXPECT_NEAR(corpus_bleu(kHypotheses, kReferences, options).score, 43.91623493, 1e-8);
  EXPECT_EQ(corpus_bleu(Lines(3), kReferences, {}).score, 0);
}

TEST(CorpusBleu, GivesThePublishedSentenceScores) {
  EXPECT_NEAR(score("this is a test", "this is a test", with(Smoothing::kFloor, 0.01)), 100, 1e-9);
  EXPECT_NEAR(score("this is a fest", "this is a test", with(Smoothing::kFloor, 0.01)), 22.3606797749979, 1e-9);
  EXPECT_NEAR(score("am I am a character sequence", "I am a symbol string sequence a a", with(Smoothing::kFloor)),
              15.55722182, 1e-7);
  EXPECT_EQ(score("am I am a character sequence", "I am a symbol string sequence a a", with(Smoothing::kFloor, 0.0)),
            0);
  BleuOptions effective = with(Smoothing::kFloor, 0.01);
  effective.effective_order = true;
  EXPECT_NEAR(score("test", "a test", effective), 36.78794411714425, 1e-9);
  EXPECT_NEAR(score("a test", "a test", effective), 100, 1e-9);
  EXPECT_NEAR(score("a little test", "a test", effective), 3.218297948685433, 1e-9);
}

TEST(BleuOf, GivesThePublishedScoreOfCounts) {
  EXPECT_NEAR(bleu_of({{9, 7, 5, 3}, {10, 8, 6, 4}, 11, 11}, with(Smoothing::kNone)).score, 83.75922397, 1e-8);
  EXPECT_EQ(bleu_of({{6, 5, 4, 0}, {6, 5, 4, 3}, 6, 6}, with(Smoothing::kFloor, 0.0)).score, 0);
  EXPECT_EQ(bleu_of({{0, 0, 0, 0}, {4, 4, 2, 1}, 0, 1}, with(Smoothing::kFloor, 0.1)).score, 0);
  EXPECT_EQ(bleu_of({}, {}).score, 0);
}

TEST(BleuOf, LeavesOutOrdersTheHypothesisIsTooShortForOnlyWhenAsked) {
  BleuOptions options = with(Smoothing::kExp);
  EXPECT_EQ(score("a b", "a b", options), 0);
  options.effective_order = true;
  EXPECT_NEAR(score("a b", "a b", options), 100, 1e-9);
}

TEST(SentenceStatistics, PreparesLinesAsSacrebleuDoes) {
  const auto same = [](std::string_view a, std::string_view b, const BleuOptions& options) {
    const std::string_view reference[] = {b};
    const BleuStatistics statistics = sentence_statistics(a, reference, options);
    return statistics.correct[0] == statistics.hypothesis_length &&
           statistics.hypothesis_length == statistics.reference_length;
  };
  BleuOptions options;
  EXPECT_TRUE(same("&quot;a&quot; \u00A0b. \r", "\" a \" b .", options));
  EXPECT_FALSE(same("A ÉTÉ", "a été", options));
  options.lowercase = true;
  EXPECT_TRUE(same("A ÉTÉ", "a été", options));
  options.tokenizer = text::BleuTokenizer::kIntl;
  EXPECT_TRUE(same("in 2004. \u3000", "in 2004.", options));  // white space at the end is gone before intl looks
  options.tokenizer = text::BleuTokenizer::kChar;
  EXPECT_TRUE(same("a b c", "abc", options));
}

TEST(Signature, HasTheKeysOfSacrebleuInItsOrder) {
  const std::string version = fmt::format("|version:rnnsearch-{}", kVersion);
  BleuOptions options;
  EXPECT_EQ(signature(options, 1), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp" + version);
  EXPECT_EQ(signature(options, 2, Bootstrap{}),
            "nrefs:2|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp" + version);
  options = with(Smoothing::kFloor);
  options.lowercase = options.effective_order = true;
  EXPECT_EQ(signature(options, 1), "nrefs:1|case:lc|eff:yes|tok:none|smooth:floor[0.10]" + version);
  EXPECT_EQ(signature(with(Smoothing::kAddK), 1), "nrefs:1|case:mixed|eff:no|tok:none|smooth:add-k[1.00]" + version);
}

}  // namespace
}  // namespace rnnsearch::evaluate

#include "rnnsearch/evaluate/metrics.h"

#include "rnnsearch/base/version.h"
#include "tests/support/test.h"

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

using Lines = std::vector<std::string>;

constexpr ChrfOptions kChrf{}, kChrfPlusPlus{.word_orders = 2};

double chrf(const Lines& hypotheses, const std::vector<Lines>& references, const ChrfOptions& options = kChrf) {
  return corpus_chrf(hypotheses, references, options);
}
double chrf(const std::string& hypothesis, const std::string& reference, const ChrfOptions& options = kChrf) {
  return chrf(Lines{hypothesis}, {{reference}}, options);
}

TEST(Chrf, TakesTextsOfManyDifferentCharacters) {
  // Chinese characters, all different, of which the last is another one in the reference: one n-gram of each order.
  constexpr int kCount = 3000;
  std::string line;
  const auto character = [](int c) {
    return std::string{static_cast<char>(0xE4 + c / 4096), static_cast<char>(0x80 + c / 64 % 64),
                       static_cast<char>(0x80 + c % 64)};
  };
  for (int c = 0; c + 1 < kCount; ++c) line += character(c);
  double sum = 0;
  for (int n = 1; n <= 6; ++n) sum += 1 - 1.0 / (kCount - n + 1);
  EXPECT_NEAR(chrf(line + character(kCount), line + character(kCount + 1)), 100 * sum / 6, 1e-9);
}

TEST(Chrf, HasTheScoresOfSimplePairs) {
  EXPECT_EQ(chrf("a", "a"), 100);   // of one order only
  EXPECT_EQ(chrf("aa", "ab"), 25);  // half of the characters, none of the pairs
  EXPECT_EQ(chrf("abcdefg", "hijklmnop"), 0);
  EXPECT_EQ(chrf("", "b"), 0);
  EXPECT_EQ(chrf("a", ""), 0);
  EXPECT_EQ(chrf("", ""), 0);
  EXPECT_EQ(chrf("a b c", "abc"), 100) << "white space does not count";
  EXPECT_LT(chrf("a b c", "abc", kChrfPlusPlus), 100) << "words do";
  EXPECT_EQ(chrf("The Cat", "the cat", {.lowercase = true}), 100);
  EXPECT_LT(chrf("The Cat", "the cat"), 100);
}

TEST(Chrf, SignsAsSacrebleu) {
  const std::string version = std::string("|version:rnnsearch-") + kVersion;
  EXPECT_EQ(signature(kChrf, 1), "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no" + version);
  EXPECT_EQ(signature({.word_orders = 2, .lowercase = true}, 2, Bootstrap{}),
            "nrefs:2|bs:1000|seed:12345|case:lc|eff:yes|nc:6|nw:2|space:no" + version);
}

}  // namespace
}  // namespace rnnsearch::evaluate

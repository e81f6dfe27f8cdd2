#include "rnnsearch/evaluate/metrics.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rnnsearch/base/version.h"

namespace rnnsearch::evaluate {
namespace {

using Lines = std::vector<std::string>;

constexpr ChrfOptions kChrf{}, kChrfPlusPlus{.word_orders = 2};

double score(const Lines& hypotheses, const std::vector<Lines>& references, const ChrfOptions& options = kChrf) {
  return corpus_chrf(hypotheses, references, options);
}
double score(const std::string& hypothesis, const std::string& reference, const ChrfOptions& options = kChrf) {
  return score(Lines{hypothesis}, {{reference}}, options);
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
  EXPECT_NEAR(score(line + character(kCount), line + character(kCount + 1)), 100 * sum / 6, 1e-9);
}

TEST(Chrf, HasTheScoresOfSimplePairs) {
  EXPECT_EQ(score("a", "a"), 100);   // of one order only
  EXPECT_EQ(score("aa", "ab"), 25);  // half of the characters, none of the pairs
  EXPECT_EQ(score("abcdefg", "hijklmnop"), 0);
  EXPECT_EQ(score("", "b"), 0);
  EXPECT_EQ(score("a", ""), 0);
  EXPECT_EQ(score("", ""), 0);
  EXPECT_EQ(score("a b c", "abc"), 100) << "white space does not count";
  EXPECT_LT(score("a b c", "abc", kChrfPlusPlus), 100) << "words do";
  EXPECT_EQ(score("The Cat", "the cat", {.lowercase = true}), 100);
  EXPECT_LT(score("The Cat", "the cat"), 100);
}

TEST(Chrf, SignsAsSacrebleu) {
  const std::string version = std::string("|version:rnnsearch-") + kVersion;
  EXPECT_EQ(signature(kChrf, 1), "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no" + version);
  EXPECT_EQ(signature({.word_orders = 2, .lowercase = true}, 2, Bootstrap{}),
            "nrefs:2|bs:1000|seed:12345|case:lc|eff:yes|nc:6|nw:2|space:no" + version);
}

}  // namespace
}  // namespace rnnsearch::evaluate

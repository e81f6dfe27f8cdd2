#include "rnnsearch/evaluate/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rnnsearch/base/portable.h"
#include "tests/evaluate/mean_of.h"

namespace rnnsearch::evaluate {
namespace {

using Words = std::vector<std::string_view>;

/// The table of lengths, word by word.
std::size_t naive_longest_common_subsequence(const Words& a, const Words& b) {
  std::vector<std::vector<std::size_t>> length(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      length[i][j] = a[i - 1] == b[j - 1] ? length[i - 1][j - 1] + 1 : std::max(length[i - 1][j], length[i][j - 1]);
    }
  }
  return length[a.size()][b.size()];
}

Words random_words(Random& random, std::size_t length, std::size_t vocabulary) {
  static const std::string kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  Words words;
  for (std::size_t i = 0; i < length; ++i)
    words.push_back(std::string_view(kLetters).substr(random.below(vocabulary), 1));
  return words;
}

std::string joined(const Words& words) {
  std::string line;
  for (const std::string_view word : words) (line += line.empty() ? "" : " ") += word;
  return line;
}

TEST(LongestCommonSubsequence, EqualsTheWholeTableAtEveryLength) {
  Random random(1);
  std::size_t compared = 0;
  for (const std::size_t vocabulary : {1u, 2u, 5u, 60u}) {
    for (const std::size_t m : {0u, 1u, 2u, 7u, 63u, 64u, 65u, 127u, 128u, 129u, 200u}) {
      for (const std::size_t n : {0u, 1u, 3u, 40u, 64u, 65u, 130u, 257u}) {
        const Words a = random_words(random, m, vocabulary), b = random_words(random, n, vocabulary);
        ASSERT_EQ(longest_common_subsequence(a, b), naive_longest_common_subsequence(a, b)) << joined(a) << "\n"
                                                                                            << joined(b);
        ++compared;
      }
    }
  }
  for (std::size_t i = 0; i < 2000; ++i) {
    const Words a = random_words(random, random.below(12), 3), b = random_words(random, random.below(12), 3);
    ASSERT_EQ(longest_common_subsequence(a, b), naive_longest_common_subsequence(a, b)) << joined(a) << "\n"
                                                                                        << joined(b);
  }
  EXPECT_EQ(compared, 4u * 11u * 8u);
}

SequenceAccuracy accuracy(std::string_view hypothesis, const Words& references,
                          const SequenceAccuracyOptions& options = {}) {
  return sentence_statistics(hypothesis, references, options);
}

constexpr SequenceAccuracyOptions kWhole{}, kCut{.cut_output = true};

TEST(SequenceAccuracy, CountsPositionsAndOrder) {
  EXPECT_EQ(accuracy("7 6 5 4 3", {"7 6 5 4 3"}), (SequenceAccuracy{1, 1, 1}));
  EXPECT_EQ(accuracy("7 6 4 3", {"7 6 5 4 3"}),  // one word left out
            (SequenceAccuracy{2.0 / 5, 4.0 / 5, std::sqrt(2.0 / 5 * (4.0 / 5))}));
  EXPECT_EQ(accuracy("1 7 6 5 4 3", {"7 6 5 4 3"}), (SequenceAccuracy{0, 1, 0}));    // one too many
  EXPECT_EQ(accuracy("7 6 5 4 3 2 1", {"7 6 5 4 3"}), (SequenceAccuracy{1, 1, 1}));  // words past the end cost nothing
  EXPECT_EQ(accuracy("3 4 5 6 7", {"7 6 5 4 3"}), (SequenceAccuracy{1.0 / 5, 1.0 / 5, 1.0 / 5}));
}

// Worked by hand, of four sequences:
//   reference  output   PSA   LCSR  GeoMean         of the output cut to the reference
//   1 2 3 4    1 2 3 4  1     1     1               the same
//   5 6 7 8    6 7 8    0     3/4   0               the same
//   1 2        3 2 1 2  1/2   1     0.70710678      PSA 1/2, LCSR 1/2, GeoMean 1/2
//   (empty)    9        0     0     0               the same
// The root of the product of the means would be sqrt(0.375 * 0.6875) = 0.50775240, and 0.45927933 of the cut outputs.
TEST(SequenceAccuracy, OfASetIsTheMeanOfEachSequencesOwn) {
  const std::vector<std::string> outputs{"1 2 3 4", "6 7 8", "3 2 1 2", "9"};
  const std::vector<std::vector<std::string>> references{{"1 2 3 4", "5 6 7 8", "1 2", ""}};
  const SequenceAccuracy whole = mean_of(corpus_statistics(outputs, references, kWhole));
  EXPECT_NEAR(whole.psa, 0.375, 1e-15);
  EXPECT_NEAR(whole.lcsr, 0.6875, 1e-15);
  EXPECT_NEAR(whole.geometric_mean, 0.42677669529663687, 1e-15);  // (1 + sqrt(1 / 2)) / 4
  const SequenceAccuracy cut = mean_of(corpus_statistics(outputs, references, kCut));
  EXPECT_NEAR(cut.psa, 0.375, 1e-15);
  EXPECT_NEAR(cut.lcsr, 0.5625, 1e-15);
  EXPECT_NEAR(cut.geometric_mean, 0.375, 1e-15);
}

TEST(SequenceAccuracy, TakesTheBestReferenceForEachMeasure) {
  for (const auto& options : {kWhole, kCut}) {
    EXPECT_EQ(accuracy("a b c", {"x a b c", "", "a y"}, options), (SequenceAccuracy{0.5, 0.75, 0.5}));
  }
}

TEST(SequenceAccuracy, SeparatesWordsAtAnyWhiteSpace) {
  const SequenceAccuracyOptions lowercase{.lowercase = true};
  EXPECT_EQ(accuracy(" a\tb \xc2\xa0 c\n", {"a b c"}), (SequenceAccuracy{1, 1, 1}));
  EXPECT_EQ(accuracy("A b", {"a B"}), (SequenceAccuracy{0, 0, 0}));
  EXPECT_EQ(accuracy("A b", {"a B"}, lowercase), (SequenceAccuracy{1, 1, 1}));
}

}  // namespace
}  // namespace rnnsearch::evaluate

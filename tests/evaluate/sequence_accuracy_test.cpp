#include "rnnsearch/evaluate/sequence_accuracy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/random.h"

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

TEST(LongestCommonSubsequence, CarriesThroughWholeBlocks) {
  const Words same(1000, "w");
  EXPECT_EQ(longest_common_subsequence(same, same), 1000u);
  EXPECT_EQ(longest_common_subsequence(same, Words(70, "w")), 70u);
  EXPECT_EQ(longest_common_subsequence(Words(70, "w"), same), 70u);
}

SequenceAccuracy accuracy(std::string_view hypothesis, const Words& references, bool lowercase = false) {
  return sentence_statistics(hypothesis, references, SequenceAccuracyOptions{.lowercase = lowercase});
}

TEST(SequenceAccuracy, CountsPositionsAndOrder) {
  EXPECT_EQ(accuracy("7 6 5 4 3", {"7 6 5 4 3"}), (SequenceAccuracy{1, 1}));
  EXPECT_EQ(accuracy("7 6 4 3", {"7 6 5 4 3"}), (SequenceAccuracy{2.0 / 5, 4.0 / 5}));  // one word left out
  EXPECT_EQ(accuracy("1 7 6 5 4 3", {"7 6 5 4 3"}), (SequenceAccuracy{0, 1}));          // one too many
  EXPECT_EQ(accuracy("7 6 5 4 3 2 1", {"7 6 5 4 3"}), (SequenceAccuracy{1, 1}));  // nothing is taken off at the end
  EXPECT_EQ(accuracy("3 4 5 6 7", {"7 6 5 4 3"}), (SequenceAccuracy{1.0 / 5, 1.0 / 5}));
  EXPECT_DOUBLE_EQ(accuracy("7 6 4 3", {"7 6 5 4 3"}).geometric_mean(), std::sqrt(2.0 / 5 * 4.0 / 5));
}

TEST(SequenceAccuracy, SeparatesWordsAtAnyWhiteSpace) {
  EXPECT_EQ(accuracy(" a\tb \xc2\xa0 c\n", {"a b c"}), (SequenceAccuracy{1, 1}));
  EXPECT_EQ(accuracy("A b", {"a B"}), (SequenceAccuracy{0, 0}));
  EXPECT_EQ(accuracy("A b", {"a B"}, true), (SequenceAccuracy{1, 1}));
}

TEST(SequenceAccuracy, OfNoWordsIsAllOrNothing) {
  EXPECT_EQ(accuracy("", {""}), (SequenceAccuracy{1, 1}));
  EXPECT_EQ(accuracy("a", {" "}), (SequenceAccuracy{0, 0}));
  EXPECT_EQ(accuracy("", {"a b"}), (SequenceAccuracy{0, 0}));
}

TEST(SequenceAccuracy, TakesForEachMeasureItsBestReference) {
  // The first has more in its place, the second more in order.
  const std::string_view hypothesis = "a b x c d", first = "a b y y y", second = "b c d";
  EXPECT_EQ(accuracy(hypothesis, {first}), (SequenceAccuracy{2.0 / 5, 2.0 / 5}));
  EXPECT_EQ(accuracy(hypothesis, {second}), (SequenceAccuracy{0, 1}));
  EXPECT_EQ(accuracy(hypothesis, {first, second}), (SequenceAccuracy{2.0 / 5, 1}));
  EXPECT_EQ(accuracy(hypothesis, {second, first}), (SequenceAccuracy{2.0 / 5, 1}));
}

TEST(SequenceAccuracy, AgreesWithWhatItIsDefinedAs) {
  Random random(3);
  std::vector<std::string> hypotheses;
  std::vector<std::vector<std::string>> references(2);
  SequenceAccuracy sum;
  for (std::size_t i = 0; i < 700; ++i) {  // several pieces of the sentences that threads share
    const Words own = random_words(random, random.below(90), 6);
    SequenceAccuracy best;
    for (auto& set : references) {
      const Words reference = random_words(random, 1 + random.below(90), 6);
      const auto length = static_cast<double>(reference.size());
      double same = 0;
      for (std::size_t k = 0; k < reference.size(); ++k) same += k < own.size() && own[k] == reference[k];
      best.psa = std::max(best.psa, same / length);
      best.lcsr = std::max(best.lcsr, static_cast<double>(naive_longest_common_subsequence(own, reference)) / length);
      set.push_back(joined(reference));
    }
    hypotheses.push_back(joined(own));
    sum.psa += best.psa;
    sum.lcsr += best.lcsr;
  }
  const auto sentences = sequence_accuracies(hypotheses, references);
  ASSERT_EQ(sentences.size(), 700u);
  for (const SequenceAccuracy& sentence : sentences) ASSERT_GE(sentence.lcsr, sentence.psa);
  const SequenceAccuracy mean = mean_of(sentences);
  EXPECT_NEAR(mean.psa, sum.psa / 700, 1e-12);
  EXPECT_NEAR(mean.lcsr, sum.lcsr / 700, 1e-12);
  EXPECT_NEAR(mean.geometric_mean(), std::sqrt(sum.psa / 700 * sum.lcsr / 700), 1e-12);
}

TEST(SequenceAccuracy, RefusesReferencesThatDoNotMatch) {
  const std::vector<std::string> hypotheses{"a", "b"};
  const std::vector<std::vector<std::string>> none, short_set{{"a"}};
  EXPECT_THROW(sequence_accuracies(hypotheses, none), Error);
  EXPECT_THROW(sequence_accuracies(hypotheses, short_set), Error);
  EXPECT_TRUE(std::isnan(mean_of({}).psa));
}

}  // namespace
}  // namespace rnnsearch::evaluate

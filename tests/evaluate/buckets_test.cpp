#include "rnnsearch/evaluate/evaluation.h"

#include <fmt/format.h>

#include "rnnsearch/base/portable.h"
#include "rnnsearch/evaluate/metrics.h"
#include "rnnsearch/text/unicode.h"
#include "tests/evaluate/mean_of.h"
#include "tests/support/test.h"

namespace rnnsearch::evaluate {
namespace {

using Lines = std::vector<std::string>;
using Sentences = std::vector<std::vector<std::size_t>>;

BleuOptions tokens(text::BleuTokenizer tokenizer) {
  BleuOptions options;
  options.tokenizer = tokenizer;
  return options;
}

TEST(ByLength, PutsASentenceWhereItsLengthBelongs) {
  const Lines references = {"", "a", "a b", "a b c", "a, b", "a b c d e"};
  const Lines sources = {"a b c", "a", "a b c d", "a", "a", "a"};
  const std::size_t edges[] = {2, 3, 10};
  const Buckets buckets = by_length(references, {}, LengthOf::kReference, edges, {});
  EXPECT_EQ(buckets.labels, (Lines{"up to 2", "3", "4-10", "over 10"}));
  EXPECT_EQ(buckets.sentences, (Sentences{{0, 1, 2}, {3, 4}, {5}, {}})) << "\"a , b\" has three words";
  EXPECT_EQ(by_length({}, sources, LengthOf::kSource, edges, {}).sentences, (Sentences{{1, 3, 4, 5}, {0}, {2}, {}}));
  EXPECT_EQ(by_length(references, sources, LengthOf::kLongest, edges, {}).sentences,
            (Sentences{{1}, {0, 3, 4}, {2, 5}, {}}));
  EXPECT_EQ(by_length(references, {}, LengthOf::kReference, {}, {}).labels, Lines{"any"});
}

TEST(ByLength, CountsByTheTokenizerItIsTold) {
  const Lines references = {"don't, he said: «non»", "漢字かな abc"};
  const std::size_t edges[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  const auto lengths = [&](text::BleuTokenizer tokenizer) {
    const Buckets buckets = by_length(references, {}, LengthOf::kReference, edges, tokens(tokenizer));
    std::vector<std::size_t> words(references.size());
    for (std::size_t b = 0; b < buckets.sentences.size(); ++b)
      for (const std::size_t i : buckets.sentences[b]) words[i] = b + 1;
    return words;
  };
  using text::BleuTokenizer;
  EXPECT_EQ(lengths(BleuTokenizer::kNone), (std::vector<std::size_t>{4, 2}));
  EXPECT_EQ(lengths(BleuTokenizer::k13a), (std::vector<std::size_t>{6, 2}));    // don't , he said : «non»
  EXPECT_EQ(lengths(BleuTokenizer::kIntl), (std::vector<std::size_t>{10, 2}));  // don ' t , he said : « non »
  EXPECT_EQ(lengths(BleuTokenizer::kZh), (std::vector<std::size_t>{6, 4}));     // 漢 字 かな abc
  EXPECT_EQ(lengths(BleuTokenizer::kChar), (std::vector<std::size_t>{18, 7}));
}

TEST(ByUnknownShare, HasABucketForNoneOfThem) {
  const double shares[] = {0, 0.01, 0.05, 0.0500001, 0.1, 0.2, 0.21, 1};
  const Buckets buckets = by_unknown_share(shares);
  EXPECT_EQ(buckets.labels, (Lines{"none", "up to 5%", "5 to 10%", "10 to 20%", "over 20%"}));
  EXPECT_EQ(buckets.sentences, (Sentences{{0}, {1, 2}, {3, 4}, {5}, {6, 7}}));
}

TEST(ByFrequency, CountsInPowersOfTen) {
  const std::uint64_t frequencies[] = {0, 1, 9, 10, 99, 100, 999, 1000, 123456789012, kNoWord};
  const Buckets buckets = by_frequency(frequencies);
  EXPECT_EQ(buckets.labels, (Lines{"unknown", "1-9", "10-99", "100-999", "1000 and more"}));
  EXPECT_EQ(buckets.sentences, (Sentences{{0}, {1, 2}, {3, 4}, {5, 6}, {7, 8}})) << "no word, no bucket";
}

const std::map<std::string, std::uint64_t, std::less<>> kCounts = {{"a", 5000}, {"b", 500}, {"c", 50},
                                                                   {"d", 9},    {"e", 1},   {"f", 10}};

WordFrequencies frequencies() {
  return {[](std::string_view line) { return text::split_words(line); },
          [](std::string_view word) {
            const auto found = kCounts.find(word);
            return found == kCounts.end() ? 0 : found->second;
          }};
}

TEST(WordAccuracies, ClipCountsByTheReferenceOfTheSentence) {
  // unknown: x and y; 1-9: d, e; 10-99: c, f; 100-999: b; 1000 and more: a
  const Lines references = {"a a b x", "c d e x"}, hypotheses = {"a a a b y", "a d d x f"};
  const auto accuracies = word_accuracies(hypotheses, references, frequencies());
  ASSERT_EQ(accuracies.size(), 5u);
  const auto is = [&](std::size_t bucket, std::uint64_t words, std::uint64_t hypothesis, std::uint64_t correct) {
    EXPECT_EQ(accuracies[bucket].label, frequency_labels()[bucket]);
    EXPECT_EQ(accuracies[bucket].words, words) << bucket;
    EXPECT_EQ(accuracies[bucket].hypothesis, hypothesis) << bucket;
    EXPECT_EQ(accuracies[bucket].correct, correct) << bucket;
  };
  is(0, 2, 2, 1);  // y is not x: unknown words are compared as they are written
  is(1, 2, 2, 1);
  is(2, 1, 1, 0);
  is(3, 1, 1, 1);
  is(4, 2, 4, 2);  // the third a of the first, and the a of the second sentence, are too many
  EXPECT_DOUBLE_EQ(accuracies[4].precision(), 0.5);
  EXPECT_DOUBLE_EQ(accuracies[4].recall(), 1);
  EXPECT_DOUBLE_EQ(accuracies[4].f1(), 2 * 0.5 * 1 / 1.5);
  EXPECT_EQ(accuracies[2].f1(), 0);
  EXPECT_EQ(WordAccuracy{}.f1(), 0);
  EXPECT_EQ(WordAccuracy{}.precision(), 0);
}

TEST(WordAccuracies, AreThoseOfTheDefinition) {
  Random random(3);
  Lines references, hypotheses;
  const auto line = [&] {
    std::string words;
    for (auto count = random.below(15); count > 0; --count) words += "abcdefxy"[random.below(8)], words += ' ';
    return words;
  };
  for (int i = 0; i < 700; ++i) references.push_back(line()), hypotheses.push_back(line());
  std::map<std::size_t, std::array<std::uint64_t, 3>> expected;
  for (std::size_t i = 0; i < references.size(); ++i) {
    std::map<std::string, std::uint64_t> ours, theirs;
    for (const auto& word : text::split_words(hypotheses[i])) ++ours[word];
    for (const auto& word : text::split_words(references[i])) ++theirs[word];
    for (const char c : std::string("abcdefxy")) {
      const std::string word(1, c);
      const std::uint64_t count = kCounts.contains(word) ? kCounts.at(word) : 0;
      auto& [words, hypothesis, correct] = expected[count == 0     ? 0
                                                    : count < 10   ? 1
                                                    : count < 100  ? 2
                                                    : count < 1000 ? 3
                                                                   : 4];
      words += theirs[word];
      hypothesis += ours[word];
      correct += std::min(ours[word], theirs[word]);
    }
  }
  const auto accuracies = word_accuracies(hypotheses, references, frequencies());
  for (std::size_t b = 0; b < 5; ++b) {
    EXPECT_EQ(accuracies[b].words, expected[b][0]);
    EXPECT_EQ(accuracies[b].hypothesis, expected[b][1]);
    EXPECT_EQ(accuracies[b].correct, expected[b][2]);
  }
}

using Words = std::vector<std::string_view>;

/// The table of lengths, word by word.
std::size_t naive_longest_common_subsequence(const Words& a, const Words& b) {
  std::vector<std::vector<std::size_t>> length(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j)
      length[i][j] = a[i - 1] == b[j - 1] ? length[i - 1][j - 1] + 1 : std::max(length[i - 1][j], length[i][j - 1]);
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

std::string joined(const Words& words) { return fmt::to_string(fmt::join(words, " ")); }

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

#include "rnnsearch/evaluate/evaluation.h"

#include <gtest/gtest.h>

#include <map>

#include "rnnsearch/base/portable.h"
#include "rnnsearch/text/unicode.h"

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
    for (std::size_t b = 0; b < buckets.sentences.size(); ++b) {
      for (const std::size_t i : buckets.sentences[b]) words[i] = b + 1;
    }
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

}  // namespace
}  // namespace rnnsearch::evaluate

#include "rnnsearch/evaluate/word_accuracy.h"

#include <gtest/gtest.h>

#include <map>

#include "rnnsearch/base/random.h"
#include "rnnsearch/evaluate/buckets.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::evaluate {
namespace {

using Lines = std::vector<std::string>;

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

#include "corpus/prepare/word_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>
#include <vector>

#include "rnnsearch/base/portable.h"
#include "tests/support/message_of.h"
#include "tests/support/scratch.h"

namespace rnnsearch::corpus {
namespace {

std::map<std::string, std::uint64_t> counted(WordCounter& counter) {
  std::map<std::string, std::uint64_t> found;
  std::string last;
  counter.for_each([&](std::string_view word, std::uint64_t count) {
    EXPECT_TRUE(found.empty() || last < word) << "out of order";
    last = word;
    found.emplace(word, count);
  });
  return found;
}

// Words of all lengths from 0 on, with bytes of all values, of which some are frequent.
std::string random_word(Random& random) {
  std::string word;
  for (std::uint64_t i = random.below(1 + random.below(24)); i > 0; --i) {
    word.push_back(static_cast<char>(random.below(random.below(2) == 0 ? 4 : 256)));
  }
  return word;
}

void expect_counts(std::size_t memory, std::size_t words, bool spills) {
  const Scratch scratch;
  WordCounter counter(memory, scratch.path());
  std::map<std::string, std::uint64_t> expected;
  Random random(7);
  for (std::size_t i = 0; i < words; ++i) {
    const std::string word = random_word(random);
    const std::uint64_t count = 1 + random.below(3);
    counter.add(word, WordCounter::hash_of(word), count);
    expected[word] += count;
  }
  EXPECT_EQ(counter.spilled() > 0, spills);
  EXPECT_EQ(scratch.files(), 0u) << "its files have no names";
  EXPECT_EQ(counted(counter), expected);
}

TEST(WordCounter, CountsEveryWordInMemory) {
  expect_counts(64 << 20, 200000, false);
}

TEST(WordCounter, CountsTheSameWithFilesForWhatDoesNotFit) {
  expect_counts(WordCounter::kLeastMemory, 200000, true);
}

TEST(WordCounter, TakesAWordThatIsLargerThanItsMemory) {
  const Scratch scratch;
  WordCounter counter(WordCounter::kLeastMemory, scratch.path());
  const std::string giant(1 << 20, 'x');
  for (const std::string& word : {std::string("a"), giant, std::string("b"), giant}) {
    counter.add(word, WordCounter::hash_of(word));
  }
  EXPECT_EQ(counted(counter), (std::map<std::string, std::uint64_t>{{"a", 1}, {"b", 1}, {giant, 2}}));
}

TEST(WordCounter, DoesNotMixUpWordsOfOneHash) {
  const Scratch scratch;
  WordCounter counter(WordCounter::kLeastMemory, scratch.path());
  for (const char* word : {"a", "b", "a", "c"}) counter.add(word, 5);
  EXPECT_EQ(counted(counter), (std::map<std::string, std::uint64_t>{{"a", 2}, {"b", 1}, {"c", 1}}));
}

TEST(WordCounter, SpillsBesideOthersAtTheSameTime) {
  const Scratch scratch;
  constexpr int kCounters = 8, kWords = 40000;
  std::vector<std::thread> threads;
  std::vector<std::size_t> files(kCounters);
  std::vector<std::map<std::string, std::uint64_t>> found(kCounters);
  for (int c = 0; c < kCounters; ++c) {
    threads.emplace_back([&, c] {
      WordCounter counter(WordCounter::kLeastMemory, scratch.path());
      for (int i = 0; i < 2 * kWords; ++i) {
        const std::string word = std::to_string(c) + " " + std::to_string(i % kWords);
        counter.add(word, WordCounter::hash_of(word));
        files[static_cast<std::size_t>(c)] = std::max(files[static_cast<std::size_t>(c)], counter.spilled());
      }
      counter.for_each(
          [&](std::string_view word, std::uint64_t count) { found[static_cast<std::size_t>(c)].emplace(word, count); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t c = 0; c < kCounters; ++c) {
    EXPECT_EQ(found[c].size(), std::size_t{kWords});
    for (const auto& [word, count] : found[c]) {
      ASSERT_TRUE(word.starts_with(std::to_string(c) + " ")) << word << " is of another counter";
      ASSERT_EQ(count, 2u) << word;
    }
    EXPECT_GT(files[c], 1u);
    EXPECT_LT(files[c], 8u) << "open files grow with the text";
  }
}

TEST(WordCounter, SaysWhereThereIsNoRoom) {
  const Scratch scratch;
  WordCounter counter(WordCounter::kLeastMemory, scratch / "none");
  const auto fill = [&] {
    for (int i = 0; i < 100000; ++i) {
      const std::string word = std::to_string(i);
      counter.add(word, WordCounter::hash_of(word));
    }
  };
  EXPECT_THAT(message_of(fill), testing::AllOf(testing::HasSubstr("none"), testing::HasSubstr("--memory")));
}

}  // namespace
}  // namespace rnnsearch::corpus

#include "rnnsearch/evaluate/buckets.h"

#include <gtest/gtest.h>

#include "rnnsearch/base/error.h"

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

TEST(ByLength, RefusesEdgesThatDoNotAscend) {
  for (const std::vector<std::size_t>& edges : {std::vector<std::size_t>{10, 10}, {20, 10}, {1, 2, 0}}) {
    EXPECT_THROW(by_length(Lines{"a"}, {}, LengthOf::kReference, edges, {}), Error);
  }
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

}  // namespace
}  // namespace rnnsearch::evaluate

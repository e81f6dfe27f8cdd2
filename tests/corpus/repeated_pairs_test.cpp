#include "corpus/prepare/repeated_pairs.h"

#include <gtest/gtest.h>

#include <set>

#include "rnnsearch/base/portable.h"
#include "tests/support/scratch.h"

namespace rnnsearch::corpus {
namespace {

TEST(RepeatedPairs, AreAllButTheFirstOfThoseThatAreTheSame) {
  const Scratch scratch;
  for (const std::size_t memory : {std::size_t{1}, std::size_t{1} << 20}) {
    Random random(3);
    RepeatedPairs pairs(memory, scratch.path());
    std::set<std::uint64_t> seen;
    std::set<std::size_t> expected;
    std::size_t count = 0;
    for (; count < 5000; ++count) {
      const std::uint64_t pair = random.below(4000);
      if (!seen.insert(pair).second) expected.insert(count);
      const storage::ShortDigest digest = RepeatedPairs::digest_of(std::to_string(pair), "x");
      pairs.add(std::span(&digest, 1));
    }
    const PairSet repeated = pairs.take();
    for (std::size_t i = 0; i < count + 10; ++i) EXPECT_EQ(repeated.contains(i), expected.contains(i)) << i;
    EXPECT_EQ(scratch.files(), 0u);
  }
}

TEST(RepeatedPairs, TellWhichSideAWordStandsOn) {
  EXPECT_NE(RepeatedPairs::digest_of("a b", "c"), RepeatedPairs::digest_of("a ", "bc"));
  EXPECT_EQ(RepeatedPairs::digest_of("a b", "c"), RepeatedPairs::digest_of("a b", "c"));
}

}  // namespace
}  // namespace rnnsearch::corpus

#include "rnnsearch/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rnnsearch {
namespace {

TEST(Error, IsOnePrintableLine) {
  EXPECT_STREQ(Error("--run is 'a\nb\x1b\xff'; give another").what(), "--run is 'a b\\x1b\\xff'; give another");
  EXPECT_STREQ(UsageError(std::string("a\0b", 3)).what(), "a\\x00b");
}

TEST(Error, LacksTheMiddleOfALongSentence) {
  const std::string name(1000000, 'a');
  const std::string text = Error("unknown option '" + name + "'; see --help").what();
  EXPECT_EQ(text.size(), 3907u);
  EXPECT_THAT(text, testing::StartsWith("unknown option 'aaa"));
  EXPECT_THAT(text, testing::HasSubstr("aaa [...] aaa"));
  EXPECT_THAT(text, testing::EndsWith("aaa'; see --help"));
}

TEST(Error, IsCutBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 2000; ++i) name += "\u4e2d";
  for (const char* start : {"", "a", "ab"}) {
    const std::string text = Error(start + name + "!").what();
    EXPECT_THAT(text, testing::HasSubstr("\u4e2d [...] \u4e2d"));
    EXPECT_EQ(text, Error(text).what());
  }
}

}  // namespace
}  // namespace rnnsearch

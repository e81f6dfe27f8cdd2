#include "rnnsearch/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <system_error>

namespace rnnsearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Error, IsOnePrintableLine) {
  EXPECT_STREQ(Error("--run is 'a\nb\x1b\xff'; give another").what(), "--run is 'a b\\x1b\\xff'; give another");
  EXPECT_STREQ(UsageError(std::string("a\0b", 3)).what(), "a\\x00b");
}

TEST(Error, TakesOnlyTextThatHasArgumentsForAFormat) {
  const std::filesystem::path path("a {folder}/b.h5");
  EXPECT_STREQ(Error("{}: {} of {:g} {{}}", path, 1, 2.5).what(), "a {folder}/b.h5: 1 of 2.5 {}");
  EXPECT_STREQ(UsageError("{}").what(), "{}");
  EXPECT_STREQ(UsageError(path.string() + " {0}").what(), "a {folder}/b.h5 {0}");
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

TEST(SentenceOf, SaysWhatFailedWhereTheSystemOnlySaysWhy) {
  EXPECT_EQ(sentence_of(Error("a.h5 is empty; name another file")), "a.h5 is empty; name another file");
  EXPECT_EQ(sentence_of(std::bad_alloc()), kNoMemory);
  try {
    static_cast<void>(std::filesystem::file_size("nowhere/a.txt"));
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_EQ(sentence_of(error), "cannot access nowhere/a.txt: No such file or directory (cannot get file size)");
  }
  try {
    std::filesystem::rename("nowhere/a", "nowhere/b");
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_EQ(sentence_of(error), "cannot access nowhere/a or nowhere/b: No such file or directory (cannot rename)");
  }
  const auto of_thread = AllOf(StartsWith("cannot start a thread: "), HasSubstr("ulimit -u"), HasSubstr("--threads"));
  EXPECT_THAT(sentence_of(std::system_error(EAGAIN, std::generic_category())), of_thread);
  EXPECT_THAT(sentence_of(std::runtime_error("pthread_create has failed: Resource temporarily unavailable")),
              of_thread);
}

}  // namespace
}  // namespace rnnsearch

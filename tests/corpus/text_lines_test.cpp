#include "rnnsearch/corpus/text_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/corpus/tiny_corpus.h"

namespace rnnsearch::corpus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ReadLines, RefusesAnEmptyFileAndFilesOfDifferentLengths) {
  const Scratch scratch;
  const auto empty = write_text(scratch / "empty", ""), one = write_text(scratch / "one", "a\n");
  EXPECT_THAT(message_of([&] { read_lines(empty, {}); }), HasSubstr("is empty"));
  ASSERT_EQ(std::system(("gzip -c '" + empty.string() + "' >'" + (scratch / "packed").string() + "'").c_str()), 0);
  EXPECT_THAT(message_of([&] { read_lines(scratch / "packed", {}); }), HasSubstr("is empty"));
  EXPECT_THAT(read_lines(one, {}), ElementsAre("a"));
  EXPECT_THAT(message_of([&] { check_same_lines({one, 1}, {empty, 2}); }), HasSubstr("one has 1 lines but"));
}

TEST(ChosenLines, AreEachOnceAndInOrder) {
  EXPECT_THAT(chosen_lines("7,2-4,3", 9, "text"), ElementsAre(1, 2, 3, 6));
  EXPECT_THAT(chosen_lines("", 3, "text"), ElementsAre(0, 1, 2));
}

TEST(ChosenLines, RefuseWhatNamesNoLine) {
  for (const char* asked : {"x", "0", "3-2", "1,", "1-", "-2", "1;2"}) {
    EXPECT_THAT(message_of([&] { chosen_lines(asked, 9, "text"); }), HasSubstr("is neither a line nor a range"))
        << asked;
  }
  EXPECT_THAT(message_of([&] { chosen_lines("2-10", 9, "text"); }),
              HasSubstr("there is no line 10 in text, which has 9"));
}

}  // namespace
}  // namespace rnnsearch::corpus

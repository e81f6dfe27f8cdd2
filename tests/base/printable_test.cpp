#include "rnnsearch/base/printable.h"

#include "rnnsearch/base/error.h"
#include "tests/support/test.h"

namespace rnnsearch {
namespace {

TEST(Printable, LeavesTextAndShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("été \u4e2d 🙂 \u00a0"), "été \u4e2d 🙂 \u00a0");
  EXPECT_EQ(printable("a\nb\tc"), "a b c");
  EXPECT_EQ(printable("\x1b]0;title\a\x7f\r"), "\\x1b]0;title\\x07\\x7f\\x0d");
  EXPECT_EQ(printable("\u009b31m\u0085"), "\\xc2\\x9b31m\\xc2\\x85");
  EXPECT_EQ(printable("a\u2028b\u202ec\u2066"), "a b\\xe2\\x80\\xaec\\xe2\\x81\\xa6");
}

TEST(Printable, WritesBytesThatAreNotUtf8AsNumbers) {
  EXPECT_EQ(printable("\xc2"), "\\xc2");
  EXPECT_EQ(printable("caf\xe9!"), "caf\\xe9!");
  EXPECT_EQ(printable("\xe4\xb8"), "\\xe4\\xb8");
  EXPECT_EQ(printable("\xc0\x80\xed\xa0\x80"), "\\xc0\\x80\\xed\\xa0\\x80");  // overlong, a surrogate
  EXPECT_EQ(printable("\xf4\x8f\xbf\xbf\xf4\x90\x80\x80"), "\xf4\x8f\xbf\xbf\\xf4\\x90\\x80\\x80");
}

TEST(Columns, AreThoseThatATerminalUses) {
  const struct {
    const char* text;
    std::size_t columns;
  } cells[] = {{"", 0},  {"abc", 3},  {"Système", 7}, {"e\u0301", 1}, {"中文", 4},
               {"ｱ", 1}, {"🙂", 2}, {"†…", 2},      {"\xff", 1}};
  for (const auto& [text, columns] : cells) {
    EXPECT_EQ(columns_of(text), columns) << text;
    EXPECT_EQ(left(text, 8), text + std::string(8 - columns, ' '));
    EXPECT_EQ(right(text, 8), std::string(8 - columns, ' ') + text);
  }
  EXPECT_EQ(left("中文", 3), "中文");
  EXPECT_EQ(cut("中文", 3), "中");
  EXPECT_EQ(cut("e\u0301x", 1), "e\u0301");
}

TEST(FirstInvalidUtf8, FindsTheByteWhereTheTextGoesWrong) {
  EXPECT_EQ(first_invalid_utf8(""), std::nullopt);
  EXPECT_EQ(first_invalid_utf8("aé中🙂\u007F"), std::nullopt);
  EXPECT_EQ(first_invalid_utf8(std::string_view("a\0b", 3)), std::nullopt);
  EXPECT_EQ(first_invalid_utf8("ab\xFFz"), 2u);
  EXPECT_EQ(first_invalid_utf8("é\x80"), 2u);                 // a trail byte alone
  EXPECT_EQ(first_invalid_utf8("a\xC3"), 1u);                 // cut off
  EXPECT_EQ(first_invalid_utf8("a\xE4\xB8 b"), 1u);           // cut short
  EXPECT_EQ(first_invalid_utf8("a\xC0\xAF"), 1u);             // overlong
  EXPECT_EQ(first_invalid_utf8("a\xE0\x80\xAF"), 1u);         // overlong
  EXPECT_EQ(first_invalid_utf8("ab\xED\xA0\x80"), 2u);        // surrogate
  EXPECT_EQ(first_invalid_utf8("\xF4\x90\x80\x80"), 0u);      // past U+10FFFF
  EXPECT_EQ(first_invalid_utf8("\xF8\x88\x80\x80\x80"), 0u);  // five bytes
}

TEST(WholeCharacters, LeavesOutOnlyABegunCharacter) {
  EXPECT_EQ(whole_characters("a\xe4\xb8\xad"), "a\xe4\xb8\xad");
  EXPECT_EQ(whole_characters("a\xe4\xb8"), "a");
  EXPECT_EQ(whole_characters(""), "");
}

TEST(Figures, SeparateThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

TEST(Figures, RoundToTheDigitsAskedFor) {
  EXPECT_EQ(fixed(2.345, 1), "2.3");
  EXPECT_EQ(fixed(-0.5, 0), "-0");
  EXPECT_EQ(fixed(1e22, 0), "10000000000000000000000");
}

TEST(Figures, AgreeWithTheirNoun) {
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(2, "rank"), "2 ranks");
}

TEST(Figures, GiveAShareOfNothingAsZero) {
  EXPECT_EQ(percent(1, 3), "33.33%");
  EXPECT_EQ(percent(0, 0), "0.00%");
}

TEST(Figures, ShowADurationInItsTwoLargestUnits) {
  EXPECT_EQ(duration(44.6), "45s");
  EXPECT_EQ(duration(59.6), "1m00s");
  EXPECT_EQ(duration(750), "12m30s");
  EXPECT_EQ(duration(3 * 3600 + 5 * 60 + 59), "3h05m");
}

TEST(Figures, ShowATimeInUniversalTime) {
  EXPECT_EQ(utc(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc(1709210096), "2024-02-29T12:34:56Z");
}

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
  EXPECT_THAT(text, StartsWith("unknown option 'aaa"));
  EXPECT_THAT(text, HasSubstr("aaa [...] aaa"));
  EXPECT_THAT(text, testing::EndsWith("aaa'; see --help"));
}

TEST(Error, IsCutBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 2000; ++i) name += "\u4e2d";
  for (const char* start : {"", "a", "ab"}) {
    const std::string text = Error(start + name + "!").what();
    EXPECT_THAT(text, HasSubstr("\u4e2d [...] \u4e2d"));
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

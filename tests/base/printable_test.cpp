#include "rnnsearch/base/printable.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace rnnsearch

#include "rnnsearch/base/utf8.h"

#include <gtest/gtest.h>

namespace rnnsearch {
namespace {

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

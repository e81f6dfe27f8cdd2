#include "rnnsearch/text/unicode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/code_points.h"

namespace rnnsearch::text {
namespace {

using testing::ElementsAre;

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

TEST(SplitWords, SplitsWherePythonDoes) {
  // Every code point for which Python's str.isspace() holds.
  std::vector<UChar32> spaces = {0x20, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
  for (UChar32 c = 0x09; c <= 0x0D; ++c) spaces.push_back(c);
  for (UChar32 c = 0x1C; c <= 0x1F; ++c) spaces.push_back(c);
  for (UChar32 c = 0x2000; c <= 0x200A; ++c) spaces.push_back(c);
  std::size_t found = 0;
  for (UChar32 c = 1; c <= 0x10FFFF; ++c) {
    if (U_IS_SURROGATE(c)) continue;
    std::string text = "a";
    append_code_point(text, c);
    text += "b";
    found += split_words(text).size() == 2;
  }
  EXPECT_EQ(found, spaces.size());
  for (const UChar32 c : spaces) {
    std::string text = "a";
    append_code_point(text, c);
    append_code_point(text, c);
    EXPECT_EQ(strip_right(text), "a");
    EXPECT_THAT(split_words(text + "b" + text), ElementsAre("a", "ba"));
  }
  EXPECT_THAT(split_words("\u200B\uFEFF"), ElementsAre("\u200B\uFEFF"));
  EXPECT_TRUE(split_words(" \n ").empty());
}

TEST(StripRight, LeavesTheRest) {
  EXPECT_EQ(strip_right(" a b\u3000\x1D\n"), " a b");
  EXPECT_EQ(strip_right(" \u00A0"), "");
  EXPECT_EQ(strip_right("a\xA0"), "a\xA0");  // a stray byte is not U+00A0
  EXPECT_EQ(strip_right(""), "");
}

TEST(Lowercase, FollowsUnicode) {
  EXPECT_EQ(lowercase("ABC xyz-Ä 9"), "abc xyz-ä 9");
  EXPECT_EQ(lowercase("ÀÉÎ ŒUVRE ΣΑΣ"), "àéî œuvre σας");  // the last sigma of a word has its own form
  EXPECT_EQ(lowercase("İSTANBUL"), "i\u0307stanbul");
  EXPECT_EQ(lowercase(""), "");
}

TEST(Normalized, ComposesAndUnifies) {
  EXPECT_EQ(normalized("e\u0301te\u0301 ok", NormalForm::kC), "\u00e9t\u00e9 ok");
  EXPECT_EQ(normalized("\ufb01n \uff21 x\u00b2", NormalForm::kC), "\ufb01n \uff21 x\u00b2");
  EXPECT_EQ(normalized("\ufb01n \uff21 x\u00b2 e\u0301", NormalForm::kKC), "fin A x2 \u00e9");
  EXPECT_EQ(normalized("", NormalForm::kKC), "");
}

}  // namespace
}  // namespace rnnsearch::text

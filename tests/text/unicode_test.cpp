#include "rnnsearch/text/unicode.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include "tests/support/test.h"
#include "text/code_points.h"

namespace rnnsearch::text {
namespace {

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
  EXPECT_EQ(lowercase("AZaz@[`{"), "azaz@[`{");  // the ends of the range of capitals, and what lies beside them
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

// The marks are put in order here where they are many, and by ICU where they are few: the same text either way.
TEST(Normalized, ComposesManyMarksAsICUDoes) {
  const std::vector<UChar32> parts{'a',   'e',   ' ',     0x301,  0x316,  0x308,  0x344,  0xf73,
                                   0xf71, 0xf72, 0xff9e,  0x3099, 0x304b, 0x1100, 0x1161, 0x11a8,
                                   0x9c7, 0x9be, 0x1d165, 0xfdfa, 0x2126, 0x302a};
  for (const NormalForm form : {NormalForm::kC, NormalForm::kKC}) {
    UErrorCode status = U_ZERO_ERROR;
    const auto* icu =
        form == NormalForm::kC ? icu::Normalizer2::getNFCInstance(status) : icu::Normalizer2::getNFKCInstance(status);
    std::mt19937 random(1);
    for (int line = 0; line < 2000; ++line) {
      std::string text;
      const std::size_t few = random() % 8, size = random() % 400;  // many marks in a row of some lines
      for (std::size_t i = 0; i < size; ++i)
        append_code_point(text, parts[random() % 8 == 0 ? random() % parts.size() : 3 + (random() + few) % 8]);
      std::string expected;
      icu::StringByteSink<std::string> sink(&expected);
      icu->normalizeUTF8(0, text, sink, nullptr, status);
      ASSERT_EQ(normalized(text, form), expected) << "line " << line;
    }
    EXPECT_TRUE(U_SUCCESS(status));
  }
}

TEST(Script, CountsTheLettersThatAreOfIt) {
  const auto [all, of_script] = Script("Cyrillic").count("Привет, world 2026!");
  EXPECT_EQ(all, 11u);
  EXPECT_EQ(of_script, 6u);
  EXPECT_EQ(Script("Latn").count("déjà vu — « 3 »").of_script, 6u);
  EXPECT_EQ(Script("Latin").count("1990 - 2000, 5 €").all, 0u);
}

TEST(Script, KnowsTheScriptsOfALanguage) {
  EXPECT_EQ(Script("ru").count("да").of_script, 2u);
  EXPECT_EQ(Script("ja").count("東京タワーへ").of_script, Script("Jpan").count("東京タワーへ").of_script);
  EXPECT_EQ(Script("ja").count("東京へ").of_script, 3u);
  EXPECT_EQ(Script("zh").count("中文 abc").of_script, 2u);
  EXPECT_EQ(Script("ko").count("한국").of_script, 2u);
}

TEST(Script, RefusesWhatIcuDoesNotKnow) {
  EXPECT_THAT(message_of([] { Script("klingonese"); }), AllOf(HasSubstr("'klingonese'"), HasSubstr("Cyrillic")));
  EXPECT_THAT(message_of([] { Script("Common"); }), HasSubstr("'Common'"));
  EXPECT_THAT(message_of([] { Script(""); }), HasSubstr("there is no script ''"));
}

}  // namespace
}  // namespace rnnsearch::text

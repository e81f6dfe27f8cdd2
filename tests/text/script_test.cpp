#include "rnnsearch/text/unicode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace rnnsearch::text {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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

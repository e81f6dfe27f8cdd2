#include "rnnsearch/text/placeholders.h"

#include "tests/support/test.h"

namespace rnnsearch::text {
namespace {

const CopyPatterns kNumbers({"[0-9]+(\\.[0-9]+)*"});

std::pair<std::string, std::vector<std::string>> replaced(const CopyPatterns& patterns, std::string_view line,
                                                          std::size_t most = kMostPlaceholders) {
  std::vector<std::string> spans;
  std::string text = patterns.replace(line, Surroundings::kAny, most, spans);
  return {text, spans};
}

using Pair = std::pair<std::string, std::string>;

Pair pair_of(std::string source, std::string target) {
  kNumbers.replace_pair(source, target, Surroundings::kAny);
  return {source, target};
}

std::string refusal(const std::vector<std::string>& patterns) {
  return message_of([&] { const CopyPatterns made(patterns); });
}

TEST(CopyPatterns, NumberTheirMatchesInTheOrderOfTheLine) {
  const auto [text, spans] = replaced(kNumbers, "été 12 — 3.5日 12");
  EXPECT_EQ(text, "été <copy1> — <copy2>日 <copy3>");
  EXPECT_THAT(spans, ElementsAre("12", "3.5", "12"));
  EXPECT_EQ(with_spans(text, spans), "été 12 — 3.5日 12");
  EXPECT_EQ(replaced(kNumbers, "no match").first, "no match");
  EXPECT_EQ(replaced(kNumbers, "").first, "");
  EXPECT_EQ(replaced({}, "12").first, "12");
}

TEST(CopyPatterns, TakeTheLeftmostMatchAndOfSeveralThereTheLongest) {
  const CopyPatterns patterns({"[0-9]+", "https?://[^ ]+", "[0-9]+ km", "\\b"});
  const auto [text, spans] = replaced(patterns, "see http://é.org/12 in 7 km, 8");
  EXPECT_EQ(text, "see <copy1> in <copy2>, <copy3>");
  EXPECT_THAT(spans, ElementsAre("http://é.org/12", "7 km", "8"));
}

TEST(CopyPatterns, LeaveMatchesBeyondTheMaximumAsTheyAre) {
  std::string line, expected;
  for (std::size_t i = 0; i < kMostPlaceholders + 3; ++i) {
    line += fmt::format("{} ", i + 100);
    expected += i < kMostPlaceholders ? placeholder(i) + " " : fmt::format("{} ", i + 100);
  }
  EXPECT_EQ(replaced(kNumbers, line).first, expected);
  EXPECT_EQ(replaced(kNumbers, "1 2 3", 2).first, "<copy1> <copy2> 3");
  EXPECT_EQ(replaced(kNumbers, "1 2 3", 0).first, "1 2 3");
  const auto [source, target] = pair_of(line, line);
  EXPECT_EQ(source, expected);
  EXPECT_EQ(target, expected);
}

TEST(CopyPatterns, CopyTheTextOfAPlaceholderLikeAnyOther) {
  const auto [text, spans] = replaced(kNumbers, "<copy7> 1 <copy01> <copy99>");
  EXPECT_EQ(text, "<copy1> <copy2> <copy3> <copy4>");
  EXPECT_THAT(spans, ElementsAre("<copy7>", "1", "<copy01>", "<copy99>"));
  EXPECT_EQ(with_spans(text, spans), "<copy7> 1 <copy01> <copy99>");
  EXPECT_EQ(replaced(kNumbers, "<copy7> <copy99> <copies>", 0).first, "\u2039copy7> <copy99> <copies>");
  EXPECT_EQ(pair_of("<copy1> 5", "5").first, "\u2039copy1> <copy1>");
}

TEST(CopyPatterns, ReplaceInPairsOnlyWhatBothSidesHave) {
  EXPECT_EQ(pair_of("1 2 3", "3 drei 2"), Pair("1 <copy1> <copy2>", "<copy2> drei <copy1>"));
  EXPECT_EQ(pair_of("5 a 5 b 5", "5 5"), Pair("<copy1> a <copy2> b 5", "<copy1> <copy2>"));
  EXPECT_EQ(pair_of("5", "5 5"), Pair("<copy1>", "<copy1> 5"));
  EXPECT_EQ(pair_of("1", "2"), Pair("1", "2"));
}

TEST(CopyPatterns, ReplaceInATranslationTheSpansOfItsSource) {
  const std::vector<std::string> spans{"5", "7", "5"};
  EXPECT_EQ(kNumbers.replace_same("5 5 5 7 8", Surroundings::kAny, spans), "<copy1> <copy3> 5 <copy2> 8");
  EXPECT_EQ(kNumbers.replace_same("57", Surroundings::kAny, spans), "57");
}

TEST(CopyPatterns, LookAtWhatTouchesAMatch) {
  std::vector<std::string> spans;
  EXPECT_EQ(kNumbers.replace("x1 2é (3) 4", Surroundings::kNoLetters, 9, spans), "x1 2é (<copy1>) <copy2>");
  EXPECT_EQ(kNumbers.replace("(3)\u3000"
                             "4",
                             Surroundings::kSpaces, 9, spans),
            "(3)\u3000<copy3>");
}

TEST(WithSpans, RemovesPlaceholdersWithoutASpan) {
  EXPECT_EQ(with_spans("a <copy2> <copy1><copy99> <copy", {"x"}), "a  x<copy99> <copy");
}

TEST(CopyPatterns, RefuseWhatIsNoPattern) {
  EXPECT_THAT(refusal({"[0-9]+", "[0-9"}), AllOf(HasSubstr("'[0-9'"), HasSubstr("missing ]")));
  EXPECT_THAT(refusal({"[0-9]*"}), AllOf(HasSubstr("'[0-9]*'"), HasSubstr("empty string")));
  EXPECT_THAT(refusal({"(?=a)a"}), HasSubstr("not a regular expression of RE2"));
  EXPECT_THAT(refusal({"a\nb"}), HasSubstr("line end"));
  EXPECT_EQ(refusal({"[0-9]+"}), "nothing was thrown");
}

TEST(CopyPatterns, TakeTimeLinearInTheLine) {  // std::regex overflows its stack here
  const CopyPatterns patterns({"(a|b)+c"});
  const std::string line(1 << 20, 'a');
  EXPECT_EQ(replaced(patterns, line).first, line);
}

}  // namespace
}  // namespace rnnsearch::text

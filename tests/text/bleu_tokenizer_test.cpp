#include "rnnsearch/text/tokenizer.h"

#include "rnnsearch/base/portable.h"
#include "rnnsearch/text/unicode.h"
#include "tests/support/test.h"

namespace rnnsearch::text {
namespace {

using Cases = std::vector<std::pair<std::string, std::string>>;

void expect_all(BleuTokenizer tokenizer, const Cases& cases) {
  for (const auto& [line, expected] : cases) EXPECT_EQ(tokenize_for_bleu(line, tokenizer), expected) << line;
}

TEST(BleuTokenizer13a, SplitsAsMtevalDoes) {
  expect_all(BleuTokenizer::k13a, {{"Hello, world.", "Hello , world ."},
                                   {"It's 3.5% of $1,000.00, e.g. 2-3.", "It's 3.5 % of $ 1,000.00 , e . g . 2 - 3 ."},
                                   {"a--b x-1 1-x 3-", "a--b x-1 1 - x 3 -"},
                                   {"...", ". . ."},
                                   {"1.,2 a.,b", "1 . , 2 a . , b"},
                                   {"« é. » 。", "« é . » 。"},
                                   {"foo/bar_baz [x] {y} it's", "foo / bar _ baz [ x ] { y } it's"},
                                   {"٣.٤ é,1", "٣ . ٤ é , 1"},
                                   {"", ""}});
}

TEST(BleuTokenizer13a, UndoesMarkupOnceAndInOrder) {
  expect_all(BleuTokenizer::k13a, {{"&quot;x&quot; &amp;lt; &lt;b&gt; &apos;", "\" x \" < < b > & apos ;"},
                                   {"&amp;quot;", "& quot ;"},
                                   {"a<skipped>b", "ab"},
                                   {"a-\nb\nc", "ab c"}});
}

TEST(BleuTokenizer13a, SeesTheWhiteSpaceThatPythonSees) {
  expect_all(BleuTokenizer::k13a, {{"\u00A0a\u2028b\x1C"
                                    "c\u0085d\u200Be ",
                                    "a b c d\u200Be"}});
}

// The definition, in the standard library's regular expressions, which are sound for ASCII.
TEST(BleuTokenizer13a, AgreesWithTheRegularExpressionsOnAnyAscii) {
  const std::pair<std::regex, const char*> kPasses[] = {
      {std::regex("([\\{-\\~\\[-\\` -\\&\\(-\\+\\:-\\@\\/])"), " $1 "},
      {std::regex("([^0-9])([\\.,])"), "$1 $2 "},
      {std::regex("([\\.,])([^0-9])"), " $1 $2"},
      {std::regex("([0-9])(-)"), "$1 $2 "},
  };
  Random random(3);
  for (int i = 0; i < 5000; ++i) {
    std::string line;
    for (std::size_t length = random.below(16); length > 0; --length)
      line.push_back(random.below(2) > 0 ? "..,,--19a &"[random.below(11)] : static_cast<char>(' ' + random.below(95)));
    std::string expected = " " + line + " ";
    if (line.find('&') != std::string::npos || line.find("<s") != std::string::npos) continue;  // markup: tested above
    for (const auto& [pass, replacement] : kPasses) expected = std::regex_replace(expected, pass, replacement);
    std::string spaced;
    for (const std::string& word : split_words(expected)) spaced.append(spaced.empty() ? 0 : 1, ' ').append(word);
    ASSERT_EQ(tokenize_for_bleu(line, BleuTokenizer::k13a), spaced) << line;
  }
}

TEST(BleuTokenizerIntl, SplitsPunctuationAndSymbolsOfUnicode) {
  expect_all(BleuTokenizer::kIntl, {{"Hello, world.", "Hello , world ."},
                                    {"It's 3.5% of $1,000.00, e.g. 2-3.", "It ' s 3.5 % of $ 1,000.00 , e . g . 2-3."},
                                    {"in 2004.", "in 2004."},  // nothing after the stop: it stays
                                    {"in 2004. ", "in 2004 ."},
                                    {"« é » (中。文)", "« é » ( 中 。 文 )"},
                                    {"1.,2 a.,b", "1 . , 2 a . , b"},
                                    {"a+b=€5 😀!", "a + b = € 5 😀 !"},
                                    {"½.٣,x", "½.٣ , x"},  // numbers of every kind
                                    {"l'été…", "l ' été …"},
                                    {"&quot;", "& quot ;"}});
}

TEST(BleuTokenizerZh, SetsChineseCharactersApartAndTheRestAs13a) {
  expect_all(BleuTokenizer::kZh, {{"  我用GNU/Linux 2.0。 ", "我 用 GNU / Linux 2.0 。"},
                                  {"2.5。", "2.5 。"},
                                  {"１２，", "１ ２ ，"},
                                  {"a中.b", "a 中 . b"},
                                  {"中.", "中 ."},
                                  {"3.", "3."},  // no white space around the line, as in 13a there is
                                  {"✔ok", "✔ ok"},
                                  // more than Chinese characters, and fewer: as sacreBLEU's ranges are
                                  {"say“go”—now…", "say “ go ” — now …"},
                                  {"a\u2000b\u2001c", "a b c"},
                                  {"x\u2A6Dy", "x \u2A6D y"},
                                  {"x\u2A6Ey", "x\u2A6Ey"},
                                  {"\U00020000\U00020001\U0002F800", "\U00020000\U00020001\U0002F800"},
                                  {"&lt;", "& lt ;"}});
}

TEST(BleuTokenizerChar, SetsEveryCodePointApart) {
  expect_all(BleuTokenizer::kChar, {{"ab é", "a b   é"}, {"e\u0301", "e \u0301"}, {"", ""}});
}

TEST(BleuTokenizerNone, LeavesTheLine) { expect_all(BleuTokenizer::kNone, {{" a,  b. ", " a,  b. "}}); }

TEST(BleuTokenizer, LetsInvalidBytesPass) {
  for (const auto tokenizer : {BleuTokenizer::k13a, BleuTokenizer::kIntl, BleuTokenizer::kZh, BleuTokenizer::kNone})
    EXPECT_EQ(tokenize_for_bleu("a\xFF\xE4\xB8z", tokenizer), "a\xFF\xE4\xB8z");
}

}  // namespace
}  // namespace rnnsearch::text

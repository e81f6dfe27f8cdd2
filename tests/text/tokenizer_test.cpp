#include "rnnsearch/text/tokenizer.h"

#include <fmt/format.h>

#include "rnnsearch/base/portable.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/text/unicode.h"
#include "tests/support/test.h"
#include "text/code_points.h"

namespace rnnsearch::text {
namespace {

// Tokens in one line, the joiner written as ~.
std::string shown(std::string_view line, Chinese chinese = Chinese::kCharacters) {
  std::string text = fmt::to_string(fmt::join(tokenize_words(line, chinese), " "));
  replace_all(text, "\uFFED", "~");
  return text;
}

std::string random_text(Random& random, std::size_t characters) {
  static const std::string kPieces[] = {"\uFFED",   "\uFFEE",   "\uFFEEj", "\uFFED\uFFED",
                                        "'",        "’",        "-",       ".",
                                        ",",        "_",        "qu'",     "l'",
                                        "'s",       "'ll",      "n't",     "...",
                                        "--",       " ",        "  ",      "\t",
                                        "\u00A0",   "\u2028",   "\x1C",    "\x85",
                                        "\u3000",   "(",        ")",       "«",
                                        "»",        "e\u0301",  "\u0301",  "\u200D",
                                        "👩\u200D💻", "👍🏽", "中文",    "日本語カナ",
                                        "。",       "12",       "3,4",     "a",
                                        "Bc",       "\u00AD",   "\u0001",  std::string(1, '\0'),
                                        "·",        "\uFE0F",   "🇫🇷",      "ß",
                                        "İ"};
  std::string text;
  for (std::size_t i = 0; i < characters; ++i) {
    if (random.below(3) > 0) {
      const std::string& piece = kPieces[random.below(std::size(kPieces))];
      text += piece == "\x85" ? std::string("\u0085") : piece;
      continue;
    }
    static constexpr std::uint64_t kLimits[] = {0x80, 0x800, 0x10000, 0x110000};
    auto c = static_cast<UChar32>(random.below(kLimits[random.below(4)]));
    if (U_IS_SURROGATE(c)) c = 'x';
    append_code_point(text, c);
  }
  return text;
}

TEST(TokenizeWords, PutsExactlyOneMarkWhereWordsTouchAndIsUndoneByJoinWords) {
  Random random(1);
  for (int i = 0; i < 30000; ++i) {
    const std::string text = random_text(random, random.below(24));
    ASSERT_EQ(first_invalid_utf8(text), std::nullopt);
    const Chinese chinese = i % 2 == 0 ? Chinese::kCharacters : Chinese::kDictionaryWords;
    const std::vector<std::string> words = tokenize_words(text, chinese);
    ASSERT_EQ(join_words(words), fmt::to_string(fmt::join(split_words(text), " "))) << "trial " << i;
    for (const std::string& word : words) {
      ASSERT_FALSE(word.empty());
      ASSERT_THAT(split_words(word), ElementsAre(word)) << "a word with white space in it";
    }
    EXPECT_FALSE(!words.empty() && (words.front().starts_with("\uFFED") || words.back().ends_with("\uFFED"))) << text;
    for (std::size_t w = 1; w < words.size(); ++w)
      EXPECT_FALSE(words[w - 1].ends_with("\uFFED") && words[w].starts_with("\uFFED")) << text;
  }
}

TEST(TokenizeWords, SetsPunctuationApart) {
  EXPECT_EQ(shown("Hello, world (again)!"), "Hello ~, world (~ again ~) ~!");
  EXPECT_EQ(shown("\"and/or\" 100% of $5"), "\"~ and ~/~ or ~\" 100 ~% of $~ 5");
  EXPECT_EQ(shown("Dit-il : « non » …"), "Dit-il : « non » …");
  EXPECT_EQ(shown("end. Next... C++"), "end ~. Next ~. ~. ~. C ~+ ~+");
  EXPECT_EQ(shown("((x))"), "(~ (~ x ~) ~)");
}

TEST(TokenizeWords, KeepsNamesVersionsAndNumbersWhole) {
  for (const std::string whole :
       {"libfoo-dev", "2.0.1", "foo.conf", "x86_64", "www.example.org", "1,234.5", "--help", "-O2"}) {
    EXPECT_EQ(shown(whole), whole);
  }
  EXPECT_EQ(shown("1990-2000"), "1990 ~-~ 2000");
  EXPECT_EQ(shown("foo.conf."), "foo.conf ~.");
  EXPECT_EQ(shown("http://a.b/c"), "http ~: ~/ ~/~ a.b ~/~ c");
  EXPECT_EQ(shown("one,two 3,x"), "one ~,~ two 3 ~,~ x");
}

TEST(TokenizeWords, SplitsElisionsAfterAndCliticsBeforeTheApostrophe) {
  EXPECT_EQ(shown("l'eau d’un jusqu'à Lorsqu’il puisqu'on quoiqu'elle"),
            "l'~ eau d’~ un jusqu'~ à Lorsqu’~ il puisqu'~ on quoiqu'~ elle");
  EXPECT_EQ(shown("j'ai n'est s'il c'est m'a t'es qu'y"), "j'~ ai n'~ est s'~ il c'~ est m'~ a t'~ es qu'~ y");
  EXPECT_EQ(shown("aujourd'hui d'aujourd’hui va-t'en"), "aujourd'hui d'~ aujourd’hui va-t'~ en");
  EXPECT_EQ(shown("don't it's we'll O'Neill's I’M"), "don ~'t it ~'s we ~'ll O'~ Neill ~'s I ~’M");
  EXPECT_EQ(shown("'quoted' users' rock'n'roll 'it'."), "'~ quoted ~' users ~' rock'n'roll '~ it ~' ~.");
}

TEST(TokenizeWords, KeepsWhatAddsToACharacterWithIt) {
  EXPECT_EQ(shown("e\u0301te\u0301,"), "e\u0301te\u0301 ~,");
  EXPECT_EQ(shown("ok👩🏽\u200D💻!"), "ok ~👩🏽\u200D💻 ~!");
  EXPECT_EQ(shown("✔\uFE0F done"), "✔\uFE0F done");
}

TEST(TokenizeWords, SetsChineseCharactersAndKanaApart) {
  EXPECT_EQ(shown("我用GNU软件。"), "我 ~用 ~GNU ~软 ~件 ~。");
  EXPECT_EQ(shown("「カナ」"), "「~ カ ~ナ ~」");
}

TEST(TokenizeWords, SetsWordsOfTheDictionaryApart) {
  const auto words = [](std::string_view line) { return shown(line, Chinese::kDictionaryWords); };
  EXPECT_EQ(words("我用GNU软件。"), "我 ~用 ~GNU ~软件 ~。");
  EXPECT_EQ(words("开发文件，学生"), "开发 ~文件 ~，~ 学生");
  EXPECT_EQ(words("今日は"), "今日 ~は");
  // Dictionaries differ about the rest of these: every version has words of several characters, and none is all of it.
  for (const std::string sentence :
       {"这个软件包包含开发文件", "北京大学的学生在图书馆看书", "今日は東京タワーに行きました"}) {
    const std::size_t characters = tokenize_words(sentence).size();
    EXPECT_EQ(characters, sentence.size() / 3);
    const std::size_t all = tokenize_words(sentence, Chinese::kDictionaryWords).size();
    EXPECT_GT(all, 3u) << words(sentence);
    EXPECT_LT(all, characters) << words(sentence);
  }
}

// All that is not Chinese or Japanese is split alike, and no word of the dictionary crosses what is between.
TEST(TokenizeWords, TakesOnlyRunsOfChineseFromTheDictionary) {
  Random random(3);
  for (int i = 0; i < 10000; ++i) {
    const std::string text = random_text(random, random.below(24));
    std::string characters, words;
    for (const std::string& word : tokenize_words(text)) characters += word;
    for (const std::string& word : tokenize_words(text, Chinese::kDictionaryWords)) words += word;
    // Words of several characters need fewer marks, nothing else.
    std::erase(characters, ' ');
    ASSERT_LE(words.size(), characters.size());
    const auto unmarked = [](std::string line) {
      for (std::size_t at; (at = line.find("\uFFED")) != std::string::npos;) line.erase(at, 3);
      return line;
    };
    ASSERT_EQ(unmarked(words), unmarked(characters)) << "trial " << i;
  }
  const std::string english =
      "Hello, world (again)! Dit-il : « non » … l'eau x86_64 👩🏽\u200D💻 สวัสดี";
  EXPECT_EQ(tokenize_words(english, Chinese::kDictionaryWords), tokenize_words(english));
}

TEST(TokenizeWords, EscapesItsOwnMark) {
  EXPECT_THAT(tokenize_words("a\uFFED b\uFFEEj"),
              ElementsAre("a", "\uFFED\uFFEEj", "b", "\uFFED\uFFEE\uFFEE\uFFED", "j"));
}

TEST(TokenizeWords, GivesNothingForNothing) {
  EXPECT_TRUE(tokenize_words("").empty());
  EXPECT_TRUE(tokenize_words(" \t\u00A0\n").empty());
}

TEST(TokenizeWords, LetsInvalidBytesPass) {
  for (const auto chinese : {Chinese::kCharacters, Chinese::kDictionaryWords}) {
    for (const std::string broken : {"a\xFF, \xE2\x82 \xED\xA0\x80", "软\xE4件软件\xE4\xBB", "\xBB软件\xFF软件"})
      EXPECT_EQ(join_words(tokenize_words(broken, chinese)), broken);
  }
}

TEST(JoinWords, TakesMarksThatNoTextCouldHaveLeft) {
  EXPECT_EQ(join_words({"a\uFFED", "\uFFEDb"}), "ab");
  EXPECT_EQ(join_words({"\uFFED.", "a", "\uFFED", "b", "", "c\uFFED"}), ". ab c");
  EXPECT_EQ(join_words({"a\uFFEEx", "\uFFED\uFFED"}), "a\uFFEEx");
  EXPECT_EQ(join_words({}), "");
}

// Expected words are what the regular expressions of Moses's scripts give, by hand.
constexpr MosesLanguage kEnglish = MosesLanguage::kEnglish, kFrench = MosesLanguage::kFrench,
                        kGerman = MosesLanguage::kGerman;

std::vector<std::string> words_of(std::string_view line, MosesLanguage language) {
  WordList words;
  tokenize_moses(line, language, words);
  return words.strings();
}

std::string tokenized(std::string_view line, MosesLanguage language = kEnglish) {
  return fmt::to_string(fmt::join(words_of(line, language), " "));
}

std::string detokenized(std::string_view words, MosesLanguage language = kEnglish) {
  return detokenize_moses(split_words(words), language);
}

TEST(TokenizeMoses, SplitsPunctuationButNotNumbers) {
  EXPECT_EQ(tokenized("Hello, world!"), "Hello , world !");
  EXPECT_EQ(tokenized("(see \"this\") & that; a/b"), "( see \" this \" ) & that ; a / b");
  EXPECT_EQ(tokenized("well-known foo_bar `x`"), "well-known foo _ bar `x`");
  EXPECT_EQ(tokenized("« Où ? »", kFrench), "« Où ? »");
  EXPECT_EQ(tokenized("50% of \u20ac3.5"), "50 % of \u20ac 3.5");
  EXPECT_EQ(tokenized("1,000 and 2,5 but 3, 4,a"), "1,000 and 2,5 but 3 , 4 , a");
  EXPECT_EQ(tokenized("A,B,C,D"), "A , B , C , D");
  EXPECT_EQ(tokenized("it was 1990,"), "it was 1990 ,");
  EXPECT_EQ(tokenized("x\u00b2,5"), "x \u00b2 , 5") << "a number, but not a digit: by then it stands apart";
}

TEST(TokenizeMoses, SplitsContractionsAsTheLanguageDoes) {
  EXPECT_EQ(tokenized("don't it's the 1990's"), "don 't it 's the 1990 's");
  EXPECT_EQ(tokenized("rock'n'roll"), "rock 'n'roll") << "n belonged to the first";
  EXPECT_EQ(tokenized("the 'old' 5'x 'a"), "the ' old ' 5'x ' a");
  EXPECT_EQ(tokenized("'tis dogs'"), "'tis dogs'") << "nothing stands before and after";
  EXPECT_EQ(tokenized("l'eau qu'il 'a' 5'", kFrench), "l' eau qu' il ' a ' 5'");
  EXPECT_EQ(tokenized("geht's 'so'", kGerman), "geht ' s ' so '");
}

TEST(TokenizeMoses, KnowsWhichFullStopsBelongTogetherAndToWords) {
  EXPECT_EQ(tokenized("Wait...what.. no....."), "Wait ... what .. no .....");
  EXPECT_EQ(tokenized("..."), "...");
  EXPECT_EQ(tokenized("Mr. Smith met J. Doe."), "Mr. Smith met J. Doe .");
  EXPECT_EQ(tokenized("e.g. This U.S. Army and the U.S."), "e.g. This U.S. Army and the U.S .");
  EXPECT_EQ(tokenized("The end. Of it. and so"), "The end . Of it. and so");
  EXPECT_EQ(tokenized("No. 5 and No. That"), "No. 5 and No . That");
  EXPECT_EQ(tokenized("version 3. Next"), "version 3 . Next");
  EXPECT_EQ(tokenized("He said 'no.'"), "He said ' no . '");
  EXPECT_EQ(tokenized("cf. Paris, p. Untel. Il", kFrench), "cf. Paris , p. Untel . Il");
  EXPECT_EQ(tokenized("Muster Co. Ltd. Berlin", kGerman), "Muster Co. Ltd. Berlin");
  EXPECT_EQ(tokenized("Absatz a. Satz", kGerman), "Absatz a. Satz");
  EXPECT_EQ(tokenized("am 3. Mai bzw. Juni. Dann 2010. Ende", kGerman), "am 3. Mai bzw. Juni . Dann 2010 . Ende");
}

TEST(TokenizeMoses, TakesAnyText) {
  EXPECT_EQ(tokenized(""), "");
  EXPECT_EQ(tokenized(" \t\u00a0\u2028 "), "");
  EXPECT_EQ(tokenized("a\u0001b\u00a0c"), "ab c");
  Random random(3);
  static const std::string kPieces[] = {"'",      ".",  ",",      "5",    "a",   "É", " ",
                                        "\u00a0", "中", "\u0301", "\xff", "Mr.", "-"};
  for (int trial = 0; trial < 20000; ++trial) {
    std::string line;
    for (std::uint64_t i = random.below(12); i > 0; --i) line += kPieces[random.below(std::size(kPieces))];
    for (const MosesLanguage language : {kEnglish, kFrench, kGerman}) {
      const std::vector<std::string> words = words_of(line, language);
      std::string together, without_space;
      for (const std::string& word : words) {
        ASSERT_THAT(split_words(word), ElementsAre(word)) << "of " << line;
        together += word;
      }
      for (const std::string& word : split_words(line)) without_space += word;
      ASSERT_EQ(together, without_space) << "nothing but white space is lost or added";
      detokenize_moses(words, language);
    }
  }
}

TEST(TokenizeMoses, RefusesOtherLanguages) {
  EXPECT_EQ(moses_language("de"), kGerman);
  EXPECT_THROW(moses_language("xx"), Error);
}

TEST(DetokenizeMoses, JoinsPunctuationAndContractions) {
  EXPECT_EQ(detokenized("Hello , world !"), "Hello, world!");
  EXPECT_EQ(detokenized("( see \" this \" ) and $ 5 , 50 %"), "(see \"this\") and $5, 50%");
  EXPECT_EQ(detokenized("a \" b \" c \" d \" e"), "a \"b\" c \"d\" e");
  EXPECT_EQ(detokenized("Quoi ? Oui ; non , 5 %", kFrench), "Quoi ? Oui ; non, 5 %");
  EXPECT_EQ(detokenized(""), "");
  EXPECT_EQ(detokenized("don 't it 's the 1990 's"), "don't it's the 1990's");
  EXPECT_EQ(detokenized("the dogs ' house and ' so '"), "the dogs' house and 'so'");
  EXPECT_EQ(detokenized("l' eau qu' il", kFrench), "l'eau qu'il");
  EXPECT_EQ(detokenized("l' 5", kFrench), "l' 5");
}

TEST(DetokenizeMoses, UndoesTheTokenizerOnPlainSentences) {
  for (const std::string line : {"He said: \"It's 5% more, isn't it?\"", "Mr. Smith (of No. 5) left."})
    EXPECT_EQ(detokenize_moses(words_of(line, kEnglish), kEnglish), line);
}

}  // namespace
}  // namespace rnnsearch::text

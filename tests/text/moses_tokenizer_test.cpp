// Expected words are what the regular expressions of Moses's scripts give, by hand.
#include "rnnsearch/text/tokenizer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::text {
namespace {

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

TEST(TokenizeMoses, SplitsPunctuation) {
  EXPECT_EQ(tokenized("Hello, world!"), "Hello , world !");
  EXPECT_EQ(tokenized("(see \"this\") & that; a/b"), "( see \" this \" ) & that ; a / b");
  EXPECT_EQ(tokenized("well-known foo_bar `x`"), "well-known foo _ bar `x`");
  EXPECT_EQ(tokenized("« Où ? »", kFrench), "« Où ? »");
  EXPECT_EQ(tokenized("50% of \u20ac3.5"), "50 % of \u20ac 3.5");
}

TEST(TokenizeMoses, KeepsNumbersTogether) {
  EXPECT_EQ(tokenized("1,000 and 2,5 but 3, 4,a"), "1,000 and 2,5 but 3 , 4 , a");
  EXPECT_EQ(tokenized("A,B,C,D"), "A , B , C , D");
  EXPECT_EQ(tokenized("it was 1990,"), "it was 1990 ,");
  EXPECT_EQ(tokenized("x\u00b2,5"), "x \u00b2 , 5") << "a number, but not a digit: by then it stands apart";
}

TEST(TokenizeMoses, KeepsSeveralFullStopsTogether) {
  EXPECT_EQ(tokenized("Wait...what.. no....."), "Wait ... what .. no .....");
  EXPECT_EQ(tokenized("..."), "...");
}

TEST(TokenizeMoses, SplitsContractionsAsTheLanguageDoes) {
  EXPECT_EQ(tokenized("don't it's the 1990's"), "don 't it 's the 1990 's");
  EXPECT_EQ(tokenized("rock'n'roll"), "rock 'n'roll") << "n belonged to the first";
  EXPECT_EQ(tokenized("the 'old' 5'x 'a"), "the ' old ' 5'x ' a");
  EXPECT_EQ(tokenized("'tis dogs'"), "'tis dogs'") << "nothing stands before and after";
  EXPECT_EQ(tokenized("l'eau qu'il 'a' 5'", kFrench), "l' eau qu' il ' a ' 5'");
  EXPECT_EQ(tokenized("geht's 'so'", kGerman), "geht ' s ' so '");
}

TEST(TokenizeMoses, KnowsWhichFullStopsBelongToWords) {
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
        ASSERT_THAT(split_words(word), testing::ElementsAre(word)) << "of " << line;
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

TEST(DetokenizeMoses, JoinsPunctuation) {
  EXPECT_EQ(detokenized("Hello , world !"), "Hello, world!");
  EXPECT_EQ(detokenized("( see \" this \" ) and $ 5 , 50 %"), "(see \"this\") and $5, 50%");
  EXPECT_EQ(detokenized("a \" b \" c \" d \" e"), "a \"b\" c \"d\" e");
  EXPECT_EQ(detokenized("Quoi ? Oui ; non , 5 %", kFrench), "Quoi ? Oui ; non, 5 %");
  EXPECT_EQ(detokenized(""), "");
}

TEST(DetokenizeMoses, JoinsContractions) {
  EXPECT_EQ(detokenized("don 't it 's the 1990 's"), "don't it's the 1990's");
  EXPECT_EQ(detokenized("the dogs ' house and ' so '"), "the dogs' house and 'so'");
  EXPECT_EQ(detokenized("l' eau qu' il", kFrench), "l'eau qu'il");
  EXPECT_EQ(detokenized("l' 5", kFrench), "l' 5");
}

TEST(DetokenizeMoses, UndoesTheTokenizerOnPlainSentences) {
  for (const std::string line : {"He said: \"It's 5% more, isn't it?\"", "Mr. Smith (of No. 5) left."}) {
    EXPECT_EQ(detokenize_moses(words_of(line, kEnglish), kEnglish), line);
  }
}

}  // namespace
}  // namespace rnnsearch::text

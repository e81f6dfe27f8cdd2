#include "rnnsearch/corpus/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/tokenizer.h"
#include "rnnsearch/text/unicode.h"
#include "tests/corpus/tiny_corpus.h"

namespace rnnsearch::corpus {
namespace {

using testing::HasSubstr;

TEST(Vocabulary, TurnsWordsIntoIdsAndBack) {
  const Vocabulary vocabulary({"<unk>", "<s>", "</s>", "the", "cat"}, {5, 0, 2, 9, 1});
  EXPECT_EQ(vocabulary.size(), 5u);
  EXPECT_EQ(vocabulary.id("the"), 3u);
  EXPECT_EQ(vocabulary.word(4), "cat");
  EXPECT_EQ(vocabulary.id("dog"), kUnknown);
  EXPECT_EQ(vocabulary.id(""), kUnknown);
  EXPECT_EQ(vocabulary.counts()[3], 9u);
  EXPECT_EQ(Vocabulary({"<unk>", "<s>", "</s>"}).counts(), std::vector<std::uint64_t>(3, 0));
}

TEST(Vocabulary, NeverTakesAWordOfTheTextForASpecialSymbol) {
  const Vocabulary vocabulary({"<unk>", "<s>", "</s>", "the"});
  for (const auto symbol : kSpecialSymbols) EXPECT_EQ(vocabulary.id(symbol), kUnknown);
}

TEST(Vocabulary, RefusesWhatIsNone) {
  EXPECT_THAT(message_of([] { Vocabulary({"the", "<s>", "</s>"}); }), HasSubstr("<unk> was expected"));
  EXPECT_THAT(message_of([] { Vocabulary({"<unk>", "<s>"}); }), HasSubstr("</s> was expected"));
  EXPECT_THAT(message_of([] { Vocabulary({"<unk>", "<s>", "</s>", "a", "b", "a"}); }), HasSubstr("'a' twice"));
  EXPECT_THAT(message_of([] { Vocabulary({"<unk>", "<s>", "</s>", "a"}, {1, 2}); }), HasSubstr("4 words but 2 counts"));
}

// The reason for the symbol that it is: see text/tokenizer.h.
TEST(Vocabulary, WritesAnUnknownWordAsOneWordOfEveryTokenizer) {
  const Vocabulary vocabulary({"<unk>", "<s>", "</s>", "a"});
  EXPECT_EQ(vocabulary.word_in_text(3), "a");
  const std::string unknown = vocabulary.word_in_text(kUnknown);
  for (const auto tokenizer : {text::BleuTokenizer::k13a, text::BleuTokenizer::kIntl, text::BleuTokenizer::kChar,
                               text::BleuTokenizer::kZh, text::BleuTokenizer::kNone}) {
    EXPECT_THAT(text::split_words(text::tokenize_for_bleu("a " + unknown + " b", tokenizer)),
                testing::ElementsAre("a", unknown, "b"))
        << name_of(tokenizer);
  }
}

}  // namespace
}  // namespace rnnsearch::corpus

#include "rnnsearch/corpus/text_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/corpus/tiny_corpus.h"

namespace rnnsearch::corpus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TextPipeline, UndoesItsWordsUpToWhiteSpace) {
  const TextPipeline words;
  for (const std::string line : {"Don't (really) say \"l'amie\", at 3.5% - or do!", "a", ""})
    EXPECT_EQ(words.to_text(words.to_words("  " + line + " \r")), line);
  TextPipeline none;
  none.tokenizer = "none";
  EXPECT_THAT(none.to_words(" a,b\t c\r"), ElementsAre("a,b", "c"));
  EXPECT_EQ(none.to_text({"a,b", "c"}), "a,b c");
  EXPECT_EQ(none.to_text({}), "");
}

TEST(TextPipeline, LowersCaseWhenAsked) {
  TextPipeline pipeline;
  pipeline.tokenizer = "none";
  pipeline.lowercase = true;
  EXPECT_THAT(pipeline.to_words("The \xc3\x89t\xc3\xa9"), ElementsAre("the", "\xc3\xa9t\xc3\xa9"));
}

TEST(TextPipeline, RefusesATokenizerThatThereIsNotNamingThoseThereAre) {
  TextPipeline pipeline;
  pipeline.tokenizer = "moses";
  EXPECT_THAT(message_of([&] { check(pipeline); }),
              testing::AllOf(HasSubstr("'moses'"), HasSubstr("words"), HasSubstr("none")));
}

}  // namespace
}  // namespace rnnsearch::corpus

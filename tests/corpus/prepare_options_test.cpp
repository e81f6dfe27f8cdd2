#include "rnnsearch/corpus/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace rnnsearch::corpus {
namespace {

TEST(EvaluationFiles, AreSeparatedByColonsThatAreNotEscaped) {
  const auto files = evaluation_files("news:a\\:b.txt:c:d");
  EXPECT_EQ(files.name, "news");
  EXPECT_EQ(files.source, "a:b.txt");
  EXPECT_THAT(files.references, testing::ElementsAre("c", "d"));
  for (const char* text : {"", "news", "news:a", "news::c", "news:a:", "news:a:b:"}) {
    EXPECT_THAT(message_of([&] { evaluation_files(text); }), testing::HasSubstr("NAME:SOURCE:REFERENCE")) << text;
  }
}

TEST(CleaningOptions, AreReadByTheirRows) {
  CleaningOptions options;
  const OptionList list = options_of(options);
  for (const Option& option : list.rows()) {
    const std::string text = option.text();
    EXPECT_TRUE(option.read(text)) << option.name;
  }
  EXPECT_EQ(options, CleaningOptions());
}

}  // namespace
}  // namespace rnnsearch::corpus

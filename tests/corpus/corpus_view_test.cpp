#include "rnnsearch/corpus/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/corpus/tiny_corpus.h"

namespace rnnsearch::corpus {
namespace {

using testing::HasSubstr;

TEST(CorpusView, CountsEveryPairInOneBarOfEachSide) {
  const Scratch scratch;
  const PrepareOptions options = tiny_options(scratch, 500);
  prepare(options);
  const Corpus corpus(options.output);
  Json json = Json::object();
  json["format"] = "of the caller";
  describe_corpus(corpus, 2, json);
  EXPECT_EQ(as_integer(json.at("train").at("pairs")), 500);
  ASSERT_EQ(as_array(json.at("pairs")).size(), 2U);
  EXPECT_THAT(as_string(as_array(json.at("pairs"))[1].at("source")), testing::StartsWith("p1"));
  std::int64_t source = 0, target = 0, next = 1;
  for (const Json& row : as_array(json.at("train").at("lengths"))) {
    EXPECT_EQ(as_integer(row.at("from")), next);
    next = as_integer(row.at("to")) + 1;
    source += as_integer(row.at("source"));
    target += as_integer(row.at("target"));
  }
  EXPECT_EQ(source, 500);
  EXPECT_EQ(target, 500);
  std::ostringstream out;
  print_corpus(json, out);
  EXPECT_THAT(out.str(), testing::StartsWith("format                    of the caller\n"));
  EXPECT_THAT(out.str(), HasSubstr("train                      500"));
}

}  // namespace
}  // namespace rnnsearch::corpus

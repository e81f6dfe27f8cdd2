#include "rnnsearch/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/random.h"
#include "tests/support/message_of.h"

namespace rnnsearch {
namespace {

TEST(Json, KeepsTheOrderOfMembers) {
  Json json;
  json["update"] = 12;
  json["loss"] = 2.5;
  json["a"] = Json::array({true, false, Json(), "text"});
  json["update"] = 13u;
  EXPECT_EQ(json.dump(), R"({"update":13,"loss":2.5,"a":[true,false,null,"text"]})");
  EXPECT_EQ(Json::object({{"k", Json::object()}, {"j", Json::array()}}).dump(), R"({"k":{},"j":[]})");
  EXPECT_EQ(Json::object({{"k", 1}}).dump(1), "{\n \"k\": 1\n}");
}

TEST(Json, ReadsBackTheBitsOfEveryDouble) {
  Random random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto value = std::bit_cast<double>(random.next());
    if (!std::isfinite(value)) continue;
    const double back = Json::parse(Json(value).dump(), "test").number();
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back), std::bit_cast<std::uint64_t>(value)) << value;
  }
}

TEST(Json, KeepsIntegersExact) {
  constexpr auto kSmallest = std::numeric_limits<std::int64_t>::min();
  constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Json::parse(Json(kSmallest).dump(), "test").integer(), kSmallest);
  EXPECT_EQ(Json(kLargest).dump(), "18446744073709551615");
  EXPECT_EQ(Json::parse(Json(kLargest).dump(), "test"), Json(kLargest));
  EXPECT_THAT(message_of([&] { Json(kLargest).integer(); }), testing::HasSubstr("found 18446744073709551615"));
}

TEST(Json, WritesNullForWhatJsonCannotHold) {
  EXPECT_EQ(Json::array({std::nan(""), std::numeric_limits<double>::infinity()}).dump(), "[null,null]");
}

TEST(Json, ReplacesInvalidUtf8) {
  EXPECT_EQ(Json("a\xFF\xE2\x82z\n\"").dump(), "\"a\uFFFD\uFFFDz\\n\\\"\"");
}

TEST(Json, ReadsWhatItWrote) {
  const std::string text = R"({"name":"é","list":[1,-2.5,false,null,{"x":[]}]})";
  const Json json = Json::parse(text, "test");
  EXPECT_EQ(json.dump(), text);
  EXPECT_EQ(json.at("name").string(), "é");
  EXPECT_EQ(json.at("list").items()[1].number(), -2.5);
  EXPECT_FALSE(json.at("list").items()[2].boolean());
  EXPECT_EQ(json.at("list").items()[4].members().front().first, "x");
  EXPECT_EQ(json.find("absent"), nullptr);
}

TEST(Json, RefusesWhatIsNotJsonAndSaysWhere) {
  try {
    Json::parse("{\"a\": 1,, }", "log.jsonl, line 7");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "log.jsonl, line 7: not valid JSON at byte 9 of 11");
  }
  EXPECT_THROW(Json::parse("", "test"), Error);
  EXPECT_THROW(Json::parse("{\"cut", "test"), Error);
  EXPECT_THROW(Json::parse("\"\xFF\"", "test"), Error);
  EXPECT_THROW(Json::parse("1e999", "test"), Error);
  EXPECT_THROW(Json::parse(std::string(100000, '['), "test"), Error);
}

TEST(Json, NamesTheKindItFound) {
  EXPECT_THROW(Json("x").number(), Error);
  EXPECT_THROW(Json(1).at("x"), Error);
  EXPECT_THROW(Json::object().at("x"), Error);
  Json text("x");
  EXPECT_THROW(text.push_back(1), Error);
  EXPECT_THROW(text["x"], Error);
}

}  // namespace
}  // namespace rnnsearch

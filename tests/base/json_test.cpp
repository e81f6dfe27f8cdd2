#include "rnnsearch/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

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
  EXPECT_EQ(json_text(json), R"({"update":13,"loss":2.5,"a":[true,false,null,"text"]})");
  EXPECT_EQ(json_text(Json::object({{"k", Json::object()}, {"j", Json::array()}})), R"({"k":{},"j":[]})");
  EXPECT_EQ(json_text(Json::object({{"k", 1}}), 1), "{\n \"k\": 1\n}");
}

TEST(Json, ReadsBackTheBitsOfEveryDouble) {
  Random random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto value = std::bit_cast<double>(random.next());
    if (!std::isfinite(value)) continue;
    const double back = as_number(parse_json(json_text(Json(value)), "test"));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back), std::bit_cast<std::uint64_t>(value)) << value;
  }
}

TEST(Json, KeepsIntegersExact) {
  constexpr auto kSmallest = std::numeric_limits<std::int64_t>::min();
  constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(as_integer(parse_json(json_text(Json(kSmallest)), "test")), kSmallest);
  EXPECT_EQ(json_text(Json(kLargest)), "18446744073709551615");
  EXPECT_EQ(parse_json(json_text(Json(kLargest)), "test"), Json(kLargest));
  EXPECT_THAT(message_of([&] { as_integer(Json(kLargest)); }), testing::HasSubstr("found 18446744073709551615"));
}

TEST(Json, WritesNullForWhatJsonCannotHold) {
  EXPECT_EQ(json_text(Json::array({std::nan(""), std::numeric_limits<double>::infinity()})), "[null,null]");
}

TEST(Json, ReplacesInvalidUtf8) {
  EXPECT_EQ(json_text(Json("a\xFF\xE2\x82z\n\"")), "\"a\uFFFD\uFFFDz\\n\\\"\"");
}

TEST(Json, ReadsWhatItWrote) {
  const std::string text = R"({"name":"é","list":[1,-2.5,false,null,{"x":[]}]})";
  const Json json = parse_json(text, "test");
  EXPECT_EQ(json_text(json), text);
  EXPECT_EQ(as_string(member(json, "name")), "é");
  EXPECT_EQ(as_number(as_array(member(json, "list"))[1]), -2.5);
  EXPECT_EQ(as_array(member(json, "list"))[2], Json(false));
  EXPECT_EQ(as_object(as_array(member(json, "list"))[4]).items().begin().key(), "x");
  EXPECT_EQ(find_member(json, "absent"), nullptr);
  EXPECT_EQ(find_member(member(json, "list"), "x"), nullptr);
  EXPECT_EQ(json_text(parse_json(R"({"a":1,"b":2,"a":3})", "test")), R"({"a":3,"b":2})") << "the last one counts";
}

TEST(Json, RefusesWhatIsNotJsonAndSaysWhere) {
  try {
    parse_json("{\"a\": 1,, }", "log.jsonl, line 7");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "log.jsonl, line 7: not valid JSON at byte 9 of 11");
  }
  EXPECT_THROW(parse_json("", "test"), Error);
  EXPECT_THROW(parse_json("{\"cut", "test"), Error);
  EXPECT_THROW(parse_json("\"\xFF\"", "test"), Error);
  EXPECT_THROW(parse_json("1e999", "test"), Error);
  EXPECT_THROW(parse_json(std::string(100000, '['), "test"), Error);
}

TEST(Json, NamesTheKindItFound) {
  EXPECT_EQ(message_of([] { as_number(Json("x")); }), "json: expected a number, found a string");
  EXPECT_EQ(message_of([] { as_integer(Json(true)); }), "json: expected an integer, found a boolean");
  EXPECT_EQ(message_of([] { as_integer(Json(2.5)); }), "json: expected an integer from -2^63 to 2^63 - 1, found 2.5");
  EXPECT_THROW(member(Json(1), "x"), Error);
  EXPECT_THROW(member(Json::object(), "x"), Error);
}

}  // namespace
}  // namespace rnnsearch

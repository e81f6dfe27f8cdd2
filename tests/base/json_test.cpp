#include "rnnsearch/base/json.h"

#include <nlohmann/json.hpp>

#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/portable.h"
#include "tests/support/test.h"

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
  EXPECT_THAT(message_of([&] { as_integer(Json(kLargest)); }), HasSubstr("found 18446744073709551615"));
}

TEST(Json, WritesNullForWhatJsonCannotHold) {
  EXPECT_EQ(json_text(Json::array({std::nan(""), std::numeric_limits<double>::infinity()})), "[null,null]");
}

TEST(Json, ReplacesInvalidUtf8) { EXPECT_EQ(json_text(Json("a\xFF\xE2\x82z\n\"")), "\"a\uFFFD\uFFFDz\\n\\\"\""); }

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
  EXPECT_EQ(message_of([] { parse_json("{\"a\": 1,, }", "log.jsonl, line 7"); }),
            "log.jsonl, line 7: not valid JSON at byte 9 of 11");
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

enum class Fruit { kApple, kPear };
constexpr auto names_of(Fruit) { return std::array{Named{Fruit::kApple, "apple"}, Named{Fruit::kPear, "pear"}}; }

struct Basket {
  std::string label;
  std::uint64_t pieces = 0;
  std::optional<double> weight;
  bool sold = false;
  Fruit fruit = Fruit::kApple;
  std::array<double, 2> place{};
  std::vector<Basket> inner;
};

void fields(const JsonReader& visit, Basket& basket) {
  visit("label", basket.label);
  visit("pieces", basket.pieces);
  visit("weight", basket.weight, 0.0, 10.0);
  visit.if_any("sold", basket.sold);
  visit.if_any("fruit", basket.fruit);
  visit.if_any("place", basket.place);
  visit.if_any("inner", basket.inner);
}

Basket read(const std::string& text) {
  const Json json = parse_json(text, "test");
  Basket basket;
  JsonReader(json, "a.json").read(basket);
  return basket;
}

std::string refusal(const std::string& text) {
  const std::string message = message_of([&] { (void)read(text); });
  return message.substr(0, message.find(';'));
}

TEST(JsonReader, ReadsTheMembersOfAStruct) {
  const Basket basket = read(R"({"label":"a","pieces":18446744073709551615,"weight":2,"sold":true,"fruit":"pear",
                                 "place":[1,2.5],"inner":[{"label":"b","pieces":0},{"label":"c","pieces":3}]})");
  EXPECT_EQ(basket.pieces, 18446744073709551615u);
  EXPECT_EQ(basket.weight, 2.0);
  EXPECT_TRUE(basket.sold);
  EXPECT_EQ(basket.fruit, Fruit::kPear);
  EXPECT_EQ(basket.place[1], 2.5);
  ASSERT_EQ(basket.inner.size(), 2u);
  EXPECT_EQ(basket.inner[1].label, "c");
  EXPECT_FALSE(read(R"({"label":"a","pieces":1,"weight":null})").weight);
}

TEST(JsonReader, NamesThePlaceWhatIsThereAndWhatIsExpected) {
  EXPECT_EQ(refusal("3"), "a.json is not an object");
  EXPECT_EQ(refusal(R"({"pieces":1})"), "a.json, label is missing, but must be a text");
  EXPECT_EQ(refusal(R"({"label":1,"pieces":1})"), "a.json, label is not a text");
  for (const char* number : {"-1", "1.5", "1e3", "18446744073709551616", "\"1\""}) {
    EXPECT_EQ(refusal(fmt::format(R"({{"label":"a","pieces":{}}})", number)),
              "a.json, pieces is not a whole number from 0 to 2^64 - 1");
  }
  const auto with = [](const std::string& member) { return R"({"label":"a","pieces":1,)" + member + "}"; };
  EXPECT_EQ(refusal(with(R"("weight":11)")), "a.json, weight is 11, but must be from 0 to 10");
  EXPECT_EQ(refusal(with(R"("sold":1)")), "a.json, sold is not true or false");
  EXPECT_EQ(refusal(with(R"("fruit":"fig")")), "a.json, fruit is \"fig\", but must be apple or pear");
  EXPECT_EQ(refusal(with(R"("place":[1])")), "a.json, place is not a list of 2");
  EXPECT_EQ(refusal(with(R"("inner":[{"label":"b","pieces":1},{"label":"c","pieces":"x"}])")),
            "a.json, inner, entry 2, pieces is not a whole number from 0 to 2^64 - 1");
}

struct Pair {
  std::string name;
  std::vector<float> values;
  static auto fields(auto& pair) { return std::tie(pair.name, pair.values); }
};

TEST(Packed, ReadsBackWhatWasAddedInItsOrder) {
  Packer packer;
  packer.add(2.5);
  packer.add(std::vector<Pair>{{std::string("a\0b\n", 4), {1, 2, 3}}, {"", {}}});
  packer.add("c");
  const std::string bytes = packer.take();
  EXPECT_EQ(packer.take(), "");
  Unpacker unpacker(bytes);
  EXPECT_EQ(unpacker.next<double>(), 2.5);
  const auto pairs = unpacker.next<std::vector<Pair>>();
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].name, std::string("a\0b\n", 4));
  EXPECT_EQ(pairs[0].values, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(pairs[1].name.size() + pairs[1].values.size(), 0u);
  EXPECT_FALSE(unpacker.empty());
  EXPECT_EQ(unpacker.next<std::string_view>(), "c");
  EXPECT_TRUE(unpacker.empty());
}

}  // namespace
}  // namespace rnnsearch

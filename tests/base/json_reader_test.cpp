#include "rnnsearch/base/json_reader.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/message_of.h"

namespace rnnsearch {

enum class Fruit { kApple, kPear };
constexpr auto names_of(Fruit) {
  return std::array{Named{Fruit::kApple, "apple"}, Named{Fruit::kPear, "pear"}};
}

struct Basket {
  std::string label;
  std::uint64_t pieces = 0;
  std::optional<double> weight;
  bool sold = false;
  Fruit fruit = Fruit::kApple;
  std::array<double, 2> place{};
  std::vector<Basket> inner;
};

static void fields(const JsonReader& visit, Basket& basket) {
  visit("label", basket.label);
  visit("pieces", basket.pieces);
  visit("weight", basket.weight, 0.0, 10.0);
  visit.if_any("sold", basket.sold);
  visit.if_any("fruit", basket.fruit);
  visit.if_any("place", basket.place);
  visit.if_any("inner", basket.inner);
}

static Basket read(const std::string& text) {
  const Json json = parse_json(text, "test");
  Basket basket;
  JsonReader(json, "a.json").read(basket);
  return basket;
}

static std::string refusal(const std::string& text) {
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

}  // namespace rnnsearch

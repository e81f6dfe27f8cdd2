#include "rnnsearch/base/option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "tests/support/message_of.h"

namespace rnnsearch {
namespace {

enum class Shape { kRound, kSquare };
constexpr auto names_of(Shape) {
  return std::array{Named{Shape::kRound, "round"}, Named{Shape::kSquare, "square"}};
}

struct Cake {
  std::uint64_t layers = 2;
  double sugar = 0.25;
  bool iced = false;
  Shape shape = Shape::kRound;
};

constexpr Option<Cake> kCake[]{
    {"layers", "how many", field<&Cake::layers>(), {.group = "Dough", .bounds = {.from = 1, .to = 10}}},
    {"sugar", "share of it", field<&Cake::sugar>(), {.bounds = {.from = 0, .to = 1, .below = true}}},
    row(Later::kFree, "iced", "with icing", field<&Cake::iced>()),
    row(Later::kFixed, "shape", "its shape", field<&Cake::shape>(), {.group = "Looks"}),
};
constexpr Derived<Cake> kDerived[]{{"slices", [](const Cake& cake) { return std::to_string(4 * cake.layers); }}};
constexpr Rule<Cake> kRules[]{
    {[](const Cake& cake) { return cake.iced && cake.shape == Shape::kSquare; }, "iced with shape = {shape}",
     "icing runs off the corners of {slices} slices", "choose shape = round"},
};
constexpr std::span<const Option<Cake>> kTable = kCake;

TEST(NamesOfEnums, ReadBackAsWhatTheyName) {
  Shape shape = Shape::kRound;
  EXPECT_TRUE(value::read("square", shape));
  EXPECT_EQ(shape, Shape::kSquare);
  EXPECT_EQ(name_of(shape), "square");
  EXPECT_FALSE(value::read("flat", shape));
  EXPECT_EQ(shape, Shape::kSquare);
  EXPECT_THAT(all_names<Shape>(), testing::ElementsAre("round", "square"));
}

TEST(OptionRows, RecordAStructAndReadItBack) {
  const Cake cake{.layers = 3, .sugar = 0.1, .iced = true, .shape = Shape::kSquare};
  const Config record = record_of(kTable, cake);
  EXPECT_THAT(record, testing::ElementsAre(std::pair("iced", "true"), std::pair("layers", "3"),
                                           std::pair("shape", "square"), std::pair("sugar", "0.1")));
  Cake again;
  read_record(kTable, record, "box", again);
  EXPECT_EQ(record_of(kTable, again), record);
}

TEST(OptionRows, AreNotReadFromARecordThatLacksAValueOrHasAWrongOne) {
  Cake cake;
  EXPECT_EQ(message_of([&] {
              read_record(kTable, {{"sugar", "0.5"}}, "box", cake);
            }),
            "box lacks layers, so another version of rnnsearch wrote it; use that one");
  const auto refusal = [&](const char* name, const char* value) {
    Config record = record_of(kTable, Cake());
    record[name] = value;
    return message_of([&] { read_record(kTable, record, "box", cake); });
  };
  EXPECT_EQ(refusal("layers", "many"), "box says layers = 'many', expected a whole number from 1 to 10");
  EXPECT_EQ(refusal("shape", "flat"), "box says shape = 'flat', expected round or square");
}

TEST(OptionRows, SayWhatALaterAttemptMayDoWithThem) {
  EXPECT_FALSE(all_say_what_is_later(kTable)) << "layers and sugar say nothing";
  EXPECT_TRUE(all_say_what_is_later(kTable.last(2)));
  EXPECT_EQ(kTable.back().more.later, Later::kFixed);
}

TEST(OptionRows, RefuseNumbersOutOfTheirBounds) {
  const std::string kNone = message_of([] {});
  const auto refusal = [](const Cake& cake) { return message_of([&] { check_bounds(kTable, "cake: ", cake); }); };
  EXPECT_EQ(refusal({}), kNone);
  EXPECT_EQ(refusal({.layers = 11}), "cake: layers is 11; it must be a whole number from 1 to 10");
  EXPECT_EQ(refusal({.sugar = 1}), "cake: sugar is 1; it must be a number of at least 0 and below 1");
  EXPECT_EQ(refusal({.sugar = std::nan("")}), "cake: sugar is nan; it must be a number of at least 0 and below 1");
}

TEST(OptionRules, FillInTheValuesOfOptionsAndWhatIsDerivedFromThem) {
  const std::string kNone = message_of([] {});
  const auto refusal = [](const Cake& cake) {
    return message_of([&] { check_rules(kRules, kTable, kDerived, "cake: ", cake); });
  };
  EXPECT_EQ(refusal({.iced = true}), kNone);
  EXPECT_EQ(
      refusal({.iced = true, .shape = Shape::kSquare}),
      "cake: iced with shape = square makes no sense: icing runs off the corners of 8 slices; choose shape = round");
  EXPECT_EQ(filled("a {b} {c", [](std::string_view name) { return std::string(name) + "!"; }), "a b! {c");
}

TEST(Bounds, AreOpenWhereTheySaySoAndSayWhatTheyAre) {
  const auto sentence = [](const Bounds& bounds) { return expected_of(value::Kind::kNumber, bounds, {}); };
  EXPECT_EQ(sentence({}), "a number");
  EXPECT_EQ(sentence({.from = 2}), "a number of at least 2");
  EXPECT_EQ(sentence({.to = 0.5}), "a number of at most 0.5");
  EXPECT_EQ(sentence({.from = 0, .above = true}), "a number above 0");
  EXPECT_EQ(sentence({.from = 0, .to = 1, .above = true, .below = true}), "a number above 0 and below 1");
  EXPECT_EQ(sentence({.from = 0, .to = 1, .sentence = "as you like"}), "a number as you like");
  EXPECT_TRUE((Bounds{.from = 0, .to = 1}).contains(1));
  EXPECT_FALSE((Bounds{.from = 0, .to = 1, .below = true}).contains(1));
  EXPECT_FALSE((Bounds{.from = 0, .above = true}).contains(0));
  EXPECT_TRUE((Bounds{.from = 1, .or_zero = true}).contains(0));
  EXPECT_FALSE(Bounds{}.contains(std::nan("")));
}

TEST(EnvironmentSwitch, KnowsTheWordsOfOptionsAndRefusesOthers) {
  const char* const name = "RNNSEARCH_TEST_OF_SWITCHES";
  ::unsetenv(name);
  EXPECT_FALSE(environment_switch(name));
  for (const char* text : {"1", "true", "yes", "on", "", "0", "false", "no", "off"}) {
    ::setenv(name, text, 1);
    EXPECT_EQ(environment_switch(name), testing::Value(text, testing::AnyOf("1", "true", "yes", "on"))) << text;
  }
  for (const char* text : {"maybe", "2", "True", " 1"}) {
    ::setenv(name, text, 1);
    EXPECT_THAT(message_of([&] { environment_switch(name); }),
                testing::HasSubstr(fmt::format("{} is '{}' but must be 1, true, yes or on, or 0,", name, text)));
    EXPECT_THROW(environment_switch(name), UsageError) << text;
  }
  ::unsetenv(name);
}

}  // namespace
}  // namespace rnnsearch

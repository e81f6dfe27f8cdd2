#include "rnnsearch/base/option.h"

#include "tests/support/test.h"

namespace rnnsearch {
namespace {

enum class Shape { kRound, kSquare };
constexpr auto names_of(Shape) { return std::array{Named{Shape::kRound, "round"}, Named{Shape::kSquare, "square"}}; }

struct Cake {
  std::uint64_t layers = 2;
  double sugar = 0.25;
  bool iced = false;
  Shape shape = Shape::kRound;
};

void declare(OptionList& options, Cake& cake) {
  options.group("Dough");
  options.add("layers", cake.layers, within(1, 10), "how many");
  options.add("sugar", cake.sugar, Bounds{.from = 0, .to = 1, .below = true}, "share of it");
  options.add("iced", cake.iced, Later::kFree, "with icing");
  options.group("Looks");
  options.add("shape", cake.shape, Later::kFixed, "its shape");
}
constexpr Derived<Cake> kDerived[]{{"slices", [](const Cake& cake) { return std::to_string(4 * cake.layers); }}};
constexpr Rule<Cake> kRules[]{
    {[](const Cake& cake) { return cake.iced && cake.shape == Shape::kSquare; }, "iced with shape = {shape}",
     "icing runs off the corners of {slices} slices", "choose shape = round"},
};

TEST(NamesOfEnums, ReadBackAsWhatTheyName) {
  Shape shape = Shape::kRound;
  EXPECT_TRUE(value::read("square", shape));
  EXPECT_EQ(shape, Shape::kSquare);
  EXPECT_EQ(name_of(shape), "square");
  EXPECT_FALSE(value::read("flat", shape));
  EXPECT_EQ(shape, Shape::kSquare);
  EXPECT_THAT(all_names<Shape>(), ElementsAre("round", "square"));
}

TEST(OptionList, RecordsAStructAndReadsItBack) {
  Cake cake{.layers = 3, .sugar = 0.1, .iced = true, .shape = Shape::kSquare};
  const Config record = options_of(cake).record();
  EXPECT_THAT(record, ElementsAre(std::pair("iced", "true"), std::pair("layers", "3"), std::pair("shape", "square"),
                                  std::pair("sugar", "0.1")));
  Cake again;
  options_of(again).read_record(record, "box");
  EXPECT_EQ(options_of(again).record(), record);
}

TEST(OptionList, IsNotReadFromARecordThatLacksAValueOrHasAWrongOne) {
  const auto refusal = [&](Config record) {
    return message_of([&] {
      Cake cake;
      options_of(cake).read_record(record, "box");
    });
  };
  EXPECT_EQ(refusal({{"sugar", "0.5"}}), "box lacks layers, so another version of rnnsearch wrote it; use that one");
  const auto with = [&](const char* name, const char* value) {
    Cake cake;
    Config record = options_of(cake).record();
    record[name] = value;
    return refusal(record);
  };
  EXPECT_EQ(with("layers", "many"), "box says layers = 'many', expected a whole number from 1 to 10");
  EXPECT_EQ(with("shape", "flat"), "box says shape = 'flat', expected round or square");
}

TEST(OptionList, PlacesAnOptionBehindTheOthersOfItsGroup) {
  Cake cake;
  bool burnt = false;
  std::optional<double> candles;
  std::vector<std::string> guests;
  OptionList list = options_of(cake);
  list.group("Dough");
  list.add("burnt", burnt, kNotRecorded, "black");
  list.group("Table");
  list.add("candles", candles, kRequired, Placeholder{"YEARS"}, "lights");
  list.add("guest", guests, Choices{{"Ann", "Bob"}}, "who comes");
  EXPECT_EQ(list.rows()[3].name, "burnt");
  EXPECT_FALSE(list.rows()[3].recorded);
  EXPECT_EQ(list.find("shape")->later, Later::kFixed);
  const Option &lights = *list.find("candles"), &guest = *list.find("guest");
  EXPECT_TRUE(lights.required);
  EXPECT_EQ(lights.placeholder, "YEARS");
  EXPECT_THAT(lights.write(), IsEmpty());
  EXPECT_TRUE(lights.read("3") && guest.read("Ann") && guest.read("Bob"));
  EXPECT_EQ(candles, 3);
  EXPECT_THAT(guest.write(), ElementsAre("Ann", "Bob"));
  EXPECT_EQ(guest.expected(), "Ann or Bob");
  EXPECT_EQ(list.find("flour"), nullptr);
}

TEST(OptionList, RefusesNumbersOutOfTheirBounds) {
  const std::string kNone = message_of([] {});
  const auto refusal = [](Cake cake) { return message_of([&] { options_of(cake).check_bounds("cake: "); }); };
  EXPECT_EQ(refusal({}), kNone);
  EXPECT_EQ(refusal({.layers = 11}), "cake: layers is 11; it must be a whole number from 1 to 10");
  EXPECT_EQ(refusal({.sugar = 1}), "cake: sugar is 1; it must be a number of at least 0 and below 1");
  EXPECT_EQ(refusal({.sugar = std::nan("")}), "cake: sugar is nan; it must be a number of at least 0 and below 1");
}

TEST(Ramp, IsANumberOrChangesFromOneToAnotherDuringSomeUpdates) {
  Ramp ramp;
  for (const char* text : {"0.25", "0:0.2@6000", "1:0@1", "-1:1e-05@18446744073709551615"}) {
    ASSERT_TRUE(value::read(text, ramp)) << text;
    EXPECT_EQ(value::write(ramp), text);
  }
  EXPECT_EQ(Ramp(0.25).at(1), 0.25);
  EXPECT_EQ(Ramp(0.25).at(0), 0.25);
  const Ramp rising(1, 3, 4);
  std::vector<double> values;
  for (std::uint64_t update = 0; update < 7; ++update) values.push_back(rising.at(update));
  EXPECT_THAT(values, ElementsAre(1, 1, 1.5, 2, 2.5, 3, 3));
  EXPECT_EQ(rising.largest(), 3);
  EXPECT_EQ(Ramp(3, 1, 4).largest(), 3);
  for (const char* text :
       {"", "x", "0:0.2", "0@5", "0:1@0", "0:1@-1", "0:1@", ":1@5", "0:@5", "0:1:2@5", "nan", "0:1@5@6"})
    EXPECT_FALSE(value::read(text, ramp)) << text;
  EXPECT_TRUE(allows(value::Kind::kRamp, {.from = 0, .to = 1}, {}, "0:1@5"));
  EXPECT_FALSE(allows(value::Kind::kRamp, {.from = 0, .to = 1}, {}, "0:2@5"));
  EXPECT_FALSE(allows(value::Kind::kRamp, {.from = 0, .to = 1}, {}, "-1:1@5"));
}

TEST(OptionRules, FillInTheValuesOfOptionsAndWhatIsDerivedFromThem) {
  const std::string kNone = message_of([] {});
  const auto refusal = [](const Cake& cake) {
    return message_of([&] { check_options<Cake>(cake, kRules, kDerived, "cake: "); });
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
    EXPECT_EQ(environment_switch(name), testing::Value(text, AnyOf("1", "true", "yes", "on"))) << text;
  }
  for (const char* text : {"maybe", "2", "True", " 1"}) {
    ::setenv(name, text, 1);
    EXPECT_THAT(message_of([&] { environment_switch(name); }),
                HasSubstr(fmt::format("{} is '{}' but must be 1, true, yes or on, or 0,", name, text)));
    EXPECT_THROW(environment_switch(name), UsageError) << text;
  }
  ::unsetenv(name);
}

using testing::Pair;

TEST(Ini, HasCommentsAtTheBeginningOfALineAndAfterWhiteSpace) {
  for (const auto& [line, value] :
       std::vector<std::pair<std::string, std::string>>{{"a = b # c", "b"},
                                                        {"a=b\t#c", "b"},
                                                        {"a = [A-Z]+#[0-9]+", "[A-Z]+#[0-9]+"},
                                                        {"a =#b", "#b"},
                                                        {"a = #b", ""},
                                                        {"a =", ""},
                                                        {"a = b=c", "b=c"},
                                                        {"  a\t=  b c  \r", "b c"},
                                                        {"a = \"b # c\" # d", "b # c"},
                                                        {"a = 'b \"#\" c'", "b \"#\" c"},
                                                        {"a = \" b \"", " b "},
                                                        {"a = \"b \"\"#\"\" c\"", "b \"#\" c"},
                                                        {"a = it's # so", "it's"},
                                                        {"a = \"\"", ""}}) {
    EXPECT_THAT(read_ini("# first\n\n  # second\n" + line + "\n", "x"), ElementsAre(Pair("a", value))) << line;
  }
  EXPECT_THAT(read_ini("a = 1\nb = 2\na = 3", "x"), ElementsAre(Pair("a", "1"), Pair("b", "2"), Pair("a", "3")));
}

TEST(Ini, RefusesWhatIsNoLineOfIt) {
  for (const auto& [line, fact] : std::vector<std::pair<std::string, std::string>>{
           {"a b", "x: 'a b' is not of the form 'key = value'"},
           {"a = \"b", "x: a: the quote \" that begins the value does not end"},
           {"a = 'b' c", "x: a: after the quote that ends the value stands 'c'"},
           {"a = b\x1b[1m", "x: line 1 holds the control character 0x1b"}}) {
    const auto read = [&, &text = line] { read_ini(text, "x"); };
    EXPECT_THAT(read, testing::ThrowsMessage<UsageError>(HasSubstr(fact)));
  }
}

TEST(Ini, ReadsBackWhatItWrites) {
  for (const char* value : {"", "a", "a b", "a#b", "a #b", "# a", " a", "a ", "\ta", "\"a\"", "'a'", "\"", "'", "a\"b",
                            "\"a #b\" 'c'", "a\\b", "a = b", "\u00e9 #", "[ab]"}) {
    EXPECT_THAT(read_ini(ini_line("key", value), "x"), ElementsAre(Pair("key", value)));
  }
  EXPECT_EQ(ini_line("key", "plain text"), "key = plain text\n");
  for (const char* value : {"a\nb", "a\rb", "a\x7f"}) EXPECT_THROW(ini_line("key", value), UsageError);
}

}  // namespace
}  // namespace rnnsearch

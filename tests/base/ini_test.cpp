#include "rnnsearch/base/ini.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rnnsearch/base/error.h"

namespace rnnsearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
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

#include "rnnsearch/base/environment_switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "rnnsearch/base/error.h"
#include "tests/support/message_of.h"

namespace rnnsearch {
namespace {

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
                testing::HasSubstr(text_of(name, " is '", text, "' but must be 1, true, yes or on, or 0,")));
    EXPECT_THROW(environment_switch(name), UsageError) << text;
  }
  ::unsetenv(name);
}

}  // namespace
}  // namespace rnnsearch

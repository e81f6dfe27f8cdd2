#include "rnnsearch/report/terminal_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

namespace rnnsearch::report {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::time_t kNow = 1'800'000'000;

LoggedUpdate update(std::uint64_t number, std::uint64_t updates, double seconds, double loss) {
  LoggedUpdate line;
  line.update = number;
  line.updates = updates;
  line.seconds = seconds;
  line.loss_per_word = loss;
  line.compute_seconds = seconds * 0.9;
  line.communication_seconds = seconds * 0.1;
  line.source_words_per_second = 1234;
  line.target_words_per_second = 4321;
  line.epoch = 1;
  line.epoch_share = 0.5;
  return line;
}

// 100 updates in 150 s: 50 of 1 s, then 50 of 2 s.
Run training() {
  Run run;
  run.name = "search";
  run.config = {{"max-updates", "200"}, {"attention", "additive"}};
  run.updates = {update(50, 50, 1, 6), update(100, 50, 2, 3)};
  run.updates[0].elapsed_seconds = 50;
  run.updates[1].elapsed_seconds = 150;
  run.logged = kNow - 20;
  run.environment = std::make_shared<const Json>(parse_json(
      R"({"ranks": [{"host": "n1", "threads": 8}, {"host": "n1", "threads": 8}, {"host": "n2", "threads": 8}]})",
      "test"));
  return run;
}

TEST(SecondsLeft, AreThoseOfTheUpdatesThatAreLeftAtTheMeanSpeed) {
  EXPECT_DOUBLE_EQ(seconds_left(training()).value(), 150) << "100 updates of 1.5 s";
}

TEST(SecondsLeft, AreThoseToTheFirstLimit) {
  report::Run run = training();
  run.config.emplace_back("max-minutes", "4");
  EXPECT_DOUBLE_EQ(seconds_left(run).value(), 90) << "240 s, of which 150 are over";
  run.config = {{"max-epochs", "2"}};  // 1.5 epochs in 100 updates
  EXPECT_NEAR(seconds_left(run).value(), 100.0 / 3 * 1.5, 1e-9);
}

TEST(SecondsLeft, AreUnknownWithoutALimitAndAfterTheEnd) {
  report::Run run = training();
  run.config.clear();
  EXPECT_FALSE(seconds_left(run));
  run = training();
  run.stopped = "max-updates reached";
  EXPECT_FALSE(seconds_left(run));
}

TEST(TerminalView, FitsIntoItsWidth) {
  report::Run run = training();
  run.name = std::string(300, 'n');
  for (std::uint64_t i = 3; i < 500; ++i) run.updates.push_back(update(50 * i, 50, 1, 3));
  for (const std::size_t width : {40u, 57u, 120u}) {
    std::istringstream lines(terminal_view(run, kNow, width));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      const auto characters = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(static_cast<std::size_t>(characters), width) << line;
    }
    EXPECT_GE(count, 5u);
  }
}

TEST(TerminalView, HasNoControlCharactersOfTheFiles) {
  report::Run run = training();
  run.name = "a\x1b[31mb";
  run.stopped = "bell \a";
  EXPECT_EQ(terminal_view(run, kNow, 100).find_first_of("\x1b\a"), std::string::npos);
}

}  // namespace
}  // namespace rnnsearch::report

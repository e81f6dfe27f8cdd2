#include "rnnsearch/report/page.h"

#include <nlohmann/json.hpp>

#include "tests/support/test.h"

namespace rnnsearch::report {
namespace {

namespace fs = std::filesystem;

std::string update(int number, double loss, double seconds = 0.5) {
  return fmt::format(R"({{"event":"update","update":{},"epoch":0,"epoch_share":0.5,"loss_per_word":{:g},)"
                     R"("gradient_norm":1,"learning_rate":0.1,"source_words_per_second":10,)"
                     R"("target_words_per_second":12,"seconds":{:g},"data_seconds":0.1,"compute_seconds":0.2,)"
                     R"("communication_seconds":0.05,"optimizer_seconds":0.01}})",
                     number, loss, seconds) +
         "\n";
}
std::string validation(int number, double loss) {
  return fmt::format(R"({{"event":"validation","update":{},"loss_per_word":{:g},"bleu":null,"best":true}})", number,
                     loss) +
         "\n";
}
std::string resume(int number) {
  return fmt::format(R"({{"event":"resume","update":{},"checkpoint":"x","ranks":1}})", number) + "\n";
}

class RunTest : public ScratchTest {
 protected:
  report::Run read(const std::string& log, const std::string& environment = "") {
    const fs::path path = scratch_.path() / "run";
    fs::create_directories(path);
    std::ofstream(path / "config.ini") << "# a comment\nattention = additive\n state =  8\n";
    std::ofstream(path / "log.jsonl") << log;
    if (!environment.empty()) std::ofstream(path / "environment.json") << environment;
    return read_run(path, "search");
  }
  static std::vector<std::uint64_t> updates_of(const report::Run& run) {
    std::vector<std::uint64_t> updates;
    for (const LoggedUpdate& line : run.updates) updates.push_back(line.update);
    return updates;
  }
};

TEST_F(RunTest, CountsTheTimeOfEachUpdate) {
  const report::Run run = read(update(10, 3, 0.5) + validation(15, 2.5) + update(20, 2, 1.0));
  EXPECT_THAT(updates_of(run), ElementsAre(10u, 20u));
  EXPECT_DOUBLE_EQ(run.updates[0].elapsed_seconds, 5);
  EXPECT_DOUBLE_EQ(run.updates[1].elapsed_seconds, 15);
  ASSERT_EQ(run.validations.size(), 1u);
  EXPECT_DOUBLE_EQ(run.validations[0].elapsed_seconds, 10);
  EXPECT_TRUE(std::isnan(run.validations[0].bleu));
  EXPECT_FALSE(run.stopped);
  ASSERT_EQ(run.config.size(), 2u);
  EXPECT_EQ(run.config[1], (std::pair<std::string, std::string>("state", "8")));
}

TEST_F(RunTest, ReadsLinesWithAndWithoutTimeAndSchema) {
  std::string line = update(20, 2);
  line.insert(line.find("\"epoch\""), R"("time":"2026-11-23T17:11:08Z","schema":2,"pairs":80,"megabytes_sent":null,)");
  const report::Run run = read(update(10, 3) + line);
  ASSERT_THAT(updates_of(run), ElementsAre(10u, 20u));
  EXPECT_EQ(run.updates[0].pairs, 0u);
  EXPECT_EQ(run.updates[1].pairs, 80u);
  EXPECT_TRUE(std::isnan(run.updates[0].megabytes_sent) && std::isnan(run.updates[1].megabytes_sent));
  EXPECT_DOUBLE_EQ(run.updates[1].epochs(), 0.5);
}

TEST_F(RunTest, DropsWhatARestartDidAgain) {
  const report::Run run = read(update(10, 3) + update(20, 2.5) + validation(20, 9) + update(30, 2.25) +
                               validation(30, 8) + resume(20) + validation(20, 7) + update(30, 1.5) + update(40, 1));
  EXPECT_THAT(updates_of(run), ElementsAre(10u, 20u, 30u, 40u));
  EXPECT_EQ(run.updates[2].loss_per_word, 1.5);
  ASSERT_EQ(run.validations.size(), 1u);
  EXPECT_EQ(run.validations[0].loss_per_word, 7);
  EXPECT_THAT(run.resumed, ElementsAre(20u));
}

TEST_F(RunTest, BeginsAnewWhereNoCheckpointWasLeft) {
  const report::Run run = read(update(10, 3) + validation(10, 9) + update(20, 2.5) + validation(20, 8) + update(10, 2));
  EXPECT_THAT(updates_of(run), ElementsAre(10u));
  EXPECT_TRUE(run.validations.empty());
}

TEST_F(RunTest, CountsSkippedUpdatesOnceAndKnowsHowItEnded) {
  const std::string skip = "{\"event\":\"skip\",\"update\":15,\"skipped_updates\":1}\n";
  const std::string stop = "{\"event\":\"stop\",\"update\":20,\"reason\":\"max-updates\",\"elapsed_seconds\":1}\n";
  const report::Run run = read(update(10, 3) + skip + resume(10) + skip + update(20, 2) + stop);
  EXPECT_EQ(run.skipped_updates, 1u);
  EXPECT_EQ(run.stopped, "max-updates after update 20");
  EXPECT_FALSE(read(update(20, 2) + stop + resume(20)).stopped);
}

TEST_F(RunTest, ReadsAroundDamageAndSaysWhereItWas) {
  const std::string torn = update(20, 2).substr(0, 30), nuls(4096, '\0'), first = update(10, 3), last = update(30, 1);
  const struct {
    const char* what;
    std::string log;
    std::vector<std::uint64_t> updates, damaged;
  } cells[] = {
      {"a line that is being written", first + torn, {10}, {}},
      {"a torn line before an attempt", first + torn + "\n" + resume(10) + last, {10, 30}, {2}},
      {"a torn line without an attempt", first + torn + "\n" + last, {10, 30}, {2}},
      {"a torn line that the next record continues", first + torn + last, {10, 30}, {2}},
      {"the first line torn", torn + "\n" + first, {10}, {1}},
      {"NULs at the end", first + nuls, {10}, {2}},
      {"NULs and a line end", first + nuls + "\n", {10}, {2}},
      {"NULs in front of a record", first + nuls + resume(10) + last, {10, 30}, {2}},
      {"NULs in a line that was written last", first + torn + nuls, {10}, {2}},
      {"garbage", first + "what is this\n\xff\xfe\n" + last, {10, 30}, {2, 3}},
      {"an empty line", first + "\n" + last, {10, 30}, {2}},
      {"other JSON", first + "[1]\n{\"update\":3}\n7\n" + last, {10, 30}, {2, 3, 4}},
      {"no number of updates",
       first + "{\"event\":\"update\",\"update\":-3}\n" + update(0, 3) + last,
       {10, 30},
       {2, 3}},
      {"figures that are none",
       first + "{\"event\":\"update\",\"update\":1,\"seconds\":\"many\"}\n" +
           "{\"event\":\"update\",\"update\":1,\"pairs\":-1}\n" +
           "{\"event\":\"validation\",\"update\":1,\"bleu\":\"\"}\n" + last,
       {10, 30},
       {2, 3, 4}},
      {"a number beyond a double", first + "{\"event\":\"update\",\"update\":1e999}\n" + last, {10, 30}, {2}},
  };
  for (const auto& cell : cells) {
    const report::Run run = read(cell.log);
    EXPECT_EQ(updates_of(run), cell.updates) << cell.what;
    EXPECT_EQ(run.damaged_lines, cell.damaged) << cell.what;
  }
  EXPECT_EQ(sentence_of_damage(read(first + nuls)), "1 line of log.jsonl is damaged and not counted (line 2)");
  EXPECT_EQ(sentence_of_damage(read("1\n2\n3\n4\n5\n6\n" + first)),
            "6 lines of log.jsonl are damaged and not counted (line 1, 2, 3, 4, 5, ...)");
  EXPECT_THAT(message_of([&] { read(""); }), HasSubstr("no update yet"));
  EXPECT_THAT(message_of([&] { read("x\n"); }), AllOf(HasSubstr("no update yet"), HasSubstr("(line 1)")));
}

TEST_F(RunTest, RefusesWhatIsNoRun) {
  EXPECT_THAT(message_of([&] { (void)read_run(scratch_.path() / "nowhere", "x"); }), HasSubstr("there is no run"));
  EXPECT_THAT(message_of([&] { (void)read_run(scratch_.path(), "x"); }), HasSubstr("config.ini"));
  EXPECT_THAT(message_of([&] { read(update(10, 3), "{"); }), HasSubstr("environment.json"));
  EXPECT_THAT(message_of([&] { read(update(10, 3), "[]"); }), HasSubstr("environment.json"));
}

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

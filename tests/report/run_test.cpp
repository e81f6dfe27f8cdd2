#include "rnnsearch/report/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "rnnsearch/base/error.h"
#include "tests/support/message_of.h"
#include "tests/support/scratch.h"

namespace rnnsearch::report {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string update(int number, double loss, double seconds = 0.5) {
  return text_of(R"({"event":"update","update":)", number, R"(,"epoch":0,"epoch_share":0.5,"loss_per_word":)", loss,
                 R"(,"gradient_norm":1,"learning_rate":0.1,"source_words_per_second":10,"target_words_per_second":12,)",
                 R"("seconds":)", seconds, R"(,"data_seconds":0.1,"compute_seconds":0.2,"communication_seconds":0.05,)",
                 R"("optimizer_seconds":0.01})", "\n");
}
std::string validation(int number, double loss) {
  return text_of(R"({"event":"validation","update":)", number, R"(,"loss_per_word":)", loss,
                 R"(,"bleu":null,"best":true})", "\n");
}
std::string resume(int number) {
  return text_of(R"({"event":"resume","update":)", number, R"(,"checkpoint":"x","ranks":1})", "\n");
}

class RunTest : public ::testing::Test {
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
  Scratch scratch_;
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
  EXPECT_EQ(run.stopped, "max-updates");
  EXPECT_FALSE(read(update(20, 2) + stop + resume(20)).stopped);
}

TEST_F(RunTest, PassesOverALastLineThatIsBeingWritten) {
  EXPECT_THAT(updates_of(read(update(10, 3) + update(20, 2).substr(0, 30))), ElementsAre(10u));
}

TEST_F(RunTest, PassesOverALineThatAKillCut) {
  EXPECT_THAT(updates_of(read(update(10, 3) + update(20, 2).substr(0, 30) + "\n" + resume(10) + update(20, 1))),
              ElementsAre(10u, 20u));
  EXPECT_THAT(updates_of(read(update(10, 3) + update(20, 2).substr(0, 30) + "\n" + update(10, 1))), ElementsAre(10u));
}

TEST_F(RunTest, RefusesOtherDamageNamingFileAndLine) {
  const auto refusal = [&](const std::string& log) { return message_of([&] { read(log); }); };
  EXPECT_THAT(refusal(update(10, 3) + update(20, 2).substr(0, 30) + "\n" + update(30, 1)),
              AllOf(HasSubstr("run/log.jsonl, line 2"), HasSubstr("damaged")));
  EXPECT_THAT(refusal(update(10, 3) + "what is this\n" + update(20, 1)), HasSubstr("line 2"));
  EXPECT_THAT(refusal(update(10, 3) + "what is this\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal(update(10, 3) + "{\"update\":3}\n"), AllOf(HasSubstr("line 2"), HasSubstr("event")));
  EXPECT_THAT(refusal(update(10, 3) + "{\"event\":\"update\",\"update\":-3}\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal(update(0, 3)), HasSubstr("line 1: the record has no valid number of updates as \"update\""));
  EXPECT_THAT(refusal(update(10, 3) + "{\"event\":\"update\",\"update\":11,\"seconds\":\"many\"}\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("seconds")));
  EXPECT_THAT(refusal(update(10, 3) + "{\"event\":\"update\",\"update\":11,\"pairs\":-1}\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("\"pairs\" that is not a count")));
  EXPECT_THAT(refusal(update(10, 3) + "[1]\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal(""), HasSubstr("no update yet"));
}

TEST_F(RunTest, RefusesWhatIsNoRun) {
  EXPECT_THAT(message_of([&] { (void)read_run(scratch_.path() / "nowhere", "x"); }), HasSubstr("there is no run"));
  EXPECT_THAT(message_of([&] { (void)read_run(scratch_.path(), "x"); }), HasSubstr("config.ini"));
  EXPECT_THAT(message_of([&] { read(update(10, 3), "{"); }), HasSubstr("environment.json"));
  EXPECT_THAT(message_of([&] { read(update(10, 3), "[]"); }), HasSubstr("environment.json"));
}

}  // namespace
}  // namespace rnnsearch::report

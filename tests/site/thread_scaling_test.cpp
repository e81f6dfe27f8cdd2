#include "rnnsearch/site/thread_scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace rnnsearch::site {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Updates that take this long on this many threads.
OnThreads on(std::size_t threads, double seconds) {
  OnThreads run;
  run.measured.threads = threads;
  run.measured.timed = 3;
  run.measured.model.source_words = run.measured.model.target_words = 10;
  run.measured.places = {{"a", threads, "0-15"}};
  run.measurement.seconds = {seconds, 10 * seconds, 0.1 * seconds};  // the median counts
  run.measurement.pairs = run.measurement.source_words = 1;
  run.measurement.target_words = 111 * seconds;
  run.measurement.loss = 7;
  return run;
}

TEST(ThreadScaling, RelatesEachTimeToThatOfTheFewestThreads) {
  const auto curve = scaling_of({on(2, 6), on(4, 4), on(12, 2)});
  ASSERT_EQ(curve.size(), 3U);
  EXPECT_EQ(curve[0].seconds, 6);
  EXPECT_EQ(curve[0].speed_up, 1);
  EXPECT_EQ(curve[0].efficiency, 1);
  EXPECT_FALSE(curve[0].gain);
  EXPECT_DOUBLE_EQ(curve[1].speed_up, 1.5);
  EXPECT_DOUBLE_EQ(curve[1].efficiency, 0.75) << "twice the threads";
  EXPECT_DOUBLE_EQ(curve[1].gain.value(), 0.5) << "half as fast again, of twice as fast";
  EXPECT_DOUBLE_EQ(curve[2].speed_up, 3);
  EXPECT_DOUBLE_EQ(curve[2].efficiency, 0.5) << "six times the threads";
  EXPECT_DOUBLE_EQ(curve[2].gain.value(), 0.5) << "twice as fast as on four threads, of three times";
}

TEST(ThreadScaling, PaysUpToTheFirstStepThatGainsLessThanHalf) {
  const auto threads = [](std::vector<OnThreads> runs) { return worthwhile_threads(scaling_of(runs)); };
  EXPECT_EQ(threads({on(1, 8), on(2, 4), on(4, 3)}), 2U) << "a third faster, of twice as fast";
  EXPECT_EQ(threads({on(1, 8), on(2, 4), on(4, 2.5)}), 4U);
  EXPECT_EQ(threads({on(1, 8), on(2, 9), on(4, 2)}), 1U) << "a later step does not make up for it";
  EXPECT_EQ(threads({on(3, 8)}), 3U);
}

TEST(ThreadScaling, SaysWhereItStopsInASentence) {
  EXPECT_EQ(conclusion_of(scaling_of({on(1, 8), on(2, 4), on(8, 3.2)}), "update"),
            "More threads pay up to 2: with 8 an update is 1.25 times as fast as with 2, where linear scaling would "
            "make it 4.00 times as fast; a step counts as paying if it gains at least 50% of what linear scaling "
            "would.");
  EXPECT_THAT(conclusion_of(scaling_of({on(1, 8), on(2, 4)}), "batch"),
              HasSubstr("More threads pay up to 2, the most of these"));
  EXPECT_THAT(conclusion_of(scaling_of({on(1, 8), on(2, 9)}), "batch"),
              HasSubstr("pay up to 1: with 2 a batch is 0.89 times as fast as with 1, "));
}

TEST(ThreadScaling, StandsInTheTableWithTheShareOfEachBound) {
  std::vector<OnThreads> runs{on(1, 8), on(2, 5)};
  const std::string without = table_of(runs);
  EXPECT_THAT(without, HasSubstr("1 rank of 1, 2 threads; "));
  EXPECT_THAT(without, HasSubstr("      1              8.0000      1.00        100%              10\n"
                                 "      2              5.0000      1.60         80%              10\n"));
  EXPECT_THAT(without, HasSubstr("\nMore threads pay up to 2"));
  EXPECT_THAT(without, Not(HasSubstr("this machine")));
  for (OnThreads& run : runs) {
    run.measured.machine.emplace();
    run.measured.machine->all.level1 = 10e9 * static_cast<double>(run.measured.threads);
    run.measured.machine->memory = 5e9;
    run.measurement.flop.decoder = 5e9 * run.measurement.total();
  }
  const std::string table = table_of(runs);
  EXPECT_THAT(table, HasSubstr("   50% of 10.0 GFLOP/s; memory 5.0 GB/s\n"));
  EXPECT_THAT(table, HasSubstr("   25% of 20.0 GFLOP/s; memory 5.0 GB/s\n"));
}

TEST(ThreadScaling, StandsInJsonWithTheRecordOfEachRun) {
  std::vector<OnThreads> runs{on(1, 8), on(2, 5)};
  runs[1].measured.machine.emplace();
  runs[1].measured.machine->all.level1 = 20e9;
  runs[1].measurement.flop.decoder = 5e9 * runs[1].measurement.total();
  const Json json = json_of(runs);
  const auto& curve = as_array(json.at("thread_scaling"));
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_EQ(find_member(curve[0], "gain_of_added_threads"), nullptr);
  EXPECT_EQ(find_member(curve[0], "share_of_bound"), nullptr) << "its machine was not measured";
  EXPECT_EQ(as_integer(curve[1].at("threads")), 2);
  EXPECT_EQ(as_number(curve[1].at("speed_up")), 1.6);
  EXPECT_EQ(as_number(curve[1].at("efficiency")), 0.8);
  EXPECT_DOUBLE_EQ(as_number(curve[1].at("gain_of_added_threads")), 0.6);
  EXPECT_DOUBLE_EQ(as_number(curve[1].at("share_of_bound")), 0.25);
  EXPECT_EQ(as_integer(json.at("worthwhile_threads")), 2);
  EXPECT_THAT(as_string(json.at("conclusion")), HasSubstr("pay up to 2"));
  ASSERT_EQ(as_array(json.at("runs")).size(), 2U);
  EXPECT_EQ(as_integer(as_array(json.at("runs"))[1].at("threads")), 2);
  EXPECT_EQ(as_number(as_array(json.at("runs"))[1].at("last_loss")), 7);
}

}  // namespace
}  // namespace rnnsearch::site
